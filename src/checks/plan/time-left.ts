import type { Target } from "../../target/index.ts";
import { type Instance, scheduleOf, waitSOf } from "../declare/check.ts";
import { FULL_RUN, type RunKind } from "../declare/schedule.ts";
import { requestsOf } from "./plan-budget.ts";

/** Estimated duration of one request of a check, seconds, until the pace of the run is known. */
const REQUEST_S = 0.03;
/** A check declares a maximum number of requests. Beyond this many, most are usually sent in parallel or not at all. */
const MAX_TIMED_REQUESTS = 200;
/** Share of a rate that conformance traffic uses, and the rate of the default tier, assumed if the target states none. */
const SHARE = 0.85;
const DEFAULT_RPM = 300;
/** Seconds after which the measured pace is used. */
const PACE_KNOWN_S = 5;
/** Maximum ratio of the measured pace to the planned one. */
const SLOWEST = 10;

/** Estimates the remaining time of a run's checks from their declared costs and the pace so far. */
export class TimeLeft {
  readonly #target: Target;
  readonly #run: RunKind;
  readonly #left: Map<string, Instance>;
  readonly #startedS = new Map<string, number>();
  /** Seconds from one parallel request to the next. */
  readonly #paceS: number;
  readonly #beganS: number;
  readonly #plannedS: number;

  /** @param nowS of a monotonic clock, seconds, as everywhere in this class. */
  constructor(instances: readonly Instance[], target: Target, nowS: number, run: RunKind = FULL_RUN) {
    this.#target = target;
    this.#run = run;
    const rates = Object.values(target.tiers).map(({ limits }) => limits.rpm);
    this.#paceS = 60 / (Math.max(target.limits?.rpm ?? DEFAULT_RPM, ...rates) * SHARE);
    // One per scenario: the others judge its traffic.
    this.#left = new Map(instances.map((instance) => [trafficOf(instance), instance]));
    this.#beganS = nowS;
    this.#plannedS = this.#estimateS(nowS);
  }

  started(instance: Instance, nowS: number): void {
    if (this.#left.has(trafficOf(instance))) this.#startedS.set(trafficOf(instance), nowS);
  }

  finished(instance: Instance): void {
    this.#left.delete(trafficOf(instance));
  }

  /** Approximate, seconds. */
  leftS(nowS: number): number {
    const elapsedS = nowS - this.#beganS;
    const estimateS = this.#estimateS(nowS);
    const doneS = this.#plannedS - estimateS;
    const pace = elapsedS < PACE_KNOWN_S || doneS <= 0 ? 1 : Math.min(SLOWEST, Math.max(1, elapsedS / doneS));
    return estimateS * pace;
  }

  /** Exclusive checks run one after another. Checks with a failing provider run after all other parallel checks. */
  #estimateS(nowS: number): number {
    const [parallel, failingUpstream, exclusive]: [Instance[], Instance[], Instance[]] = [[], [], []];
    for (const instance of this.#left.values()) {
      if (instance.check.kind !== "sending") continue;
      const { order = "parallel", failsUpstream = false } = scheduleOf(instance.check, this.#target);
      if (order === "parallel") (failsUpstream ? failingUpstream : parallel).push(instance);
      else if (order !== "background") exclusive.push(instance);
    }
    const exclusiveS = exclusive.reduce((sum, one) => sum + this.#durationS(one, nowS), 0);
    return this.#parallelS(parallel, nowS) + this.#parallelS(failingUpstream, nowS) + exclusiveS;
  }

  /** Parallel checks take as long as the longest of them, or as the rate needs for all of their requests. */
  #parallelS(parallel: readonly Instance[], nowS: number): number {
    const paceS = requestsOf(parallel, this.#target, this.#run) * this.#paceS;
    return Math.max(paceS, ...parallel.map((one) => this.#durationS(one, nowS)));
  }

  #durationS(instance: Instance, nowS: number): number {
    const waitS = waitSOf(instance.check, this.#run);
    const elapsedS = nowS - (this.#startedS.get(trafficOf(instance)) ?? nowS);
    const requestS = Math.min(REQUEST_S, this.#paceS);
    const requests = Math.min(MAX_TIMED_REQUESTS, requestsOf([instance], this.#target, this.#run));
    return Math.max(0, waitS + requests * requestS - elapsedS);
  }
}

/** Instances that share their traffic have the same name here. */
function trafficOf({ id, check }: Instance): string {
  return check.kind === "sending" ? (check.scenario ?? id) : id;
}
