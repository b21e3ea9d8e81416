import { type Instance, type RunKind, suiteOf, TimeLeft, type Wait } from "../../checks/index.ts";

import type { Redactor } from "../../http/recorder/index.ts";
import { causesByDeviation } from "../../judging/index.ts";
import { type CheckResult, FAILED, STATUSES } from "../../record/index.ts";
import type { Target } from "../../target/index.ts";
import type { OnProgress, SuiteProgress } from "../control/index.ts";

export interface CheckProgressOptions {
  readonly instances: readonly Instance[];
  readonly rounds: number;
  readonly run: RunKind;
  readonly target: Target;
  readonly redactor: Redactor;
  readonly onProgress: OnProgress;
}

interface SuiteState {
  readonly total: number;
  readonly statuses: Map<string, number>;
  done: number;
  /** Checks that are still sending; the others judge the whole run at its end. */
  sending: number;
  running: string[];
}

/** What prevents a suite without failures from passing. */
const OPEN = ["blocked", "inconclusive"];
/** More causes than this would scroll by unread. */
const MAX_CAUSES = 20;

/** Follows the checks of a run: the progress of each suite, what it waits for, and each cause of a failure as it is found. */
export class CheckProgress {
  readonly #options: CheckProgressOptions;
  readonly #suites = new Map<string, SuiteState>();
  /** The deviations of the causes reported so far. */
  readonly #deviations = new Set<string>();
  readonly #byId: ReadonlyMap<string, Instance>;
  #timeLeft: TimeLeft;
  #round = 0;
  #done = 0;

  constructor(options: CheckProgressOptions) {
    const { instances, rounds, target, run } = options;
    this.#options = options;
    this.#byId = new Map(instances.map((instance) => [instance.id, instance]));
    for (const { check } of instances) {
      const suite = suiteOf(check.id);
      const known = this.#suites.get(suite);
      const total = (known?.total ?? 0) + rounds;
      const sending = (known?.sending ?? 0) + (check.kind === "sending" ? rounds : 0);
      this.#suites.set(suite, { total, sending, statuses: new Map(), done: 0, running: [] });
    }
    this.#timeLeft = new TimeLeft(instances, target, nowS(), run);
    this.#report("");
  }

  nextRound(): void {
    const { instances, target, run } = this.#options;
    this.#round++;
    this.#timeLeft = new TimeLeft(instances, target, nowS(), run);
  }

  started(instance: Instance): void {
    this.#timeLeft.started(instance, nowS());
    this.#suiteOf(instance.id)?.running.push(instance.id);
    this.#reportSuites();
  }

  waiting(wait: Wait): void {
    const { by = "", what, forMs } = wait;
    if (this.#suiteOf(by) !== undefined) this.#options.onProgress({ kind: "wait", suite: suiteOf(by), what, forMs });
  }

  finished(result: CheckResult): void {
    const instance = this.#byId.get(result.id);
    if (instance !== undefined) this.#timeLeft.finished(instance);
    const suite = this.#suiteOf(result.id);
    if (suite === undefined) return;
    suite.done++;
    suite.running = suite.running.filter((id) => id !== result.id);
    suite.statuses.set(result.status, (suite.statuses.get(result.status) ?? 0) + 1);
    if (FAILED.includes(result.status)) this.#reportCauses(result);
    this.#report(result.id);
    this.#reportSuites();
    if (instance?.check.kind === "sending" && --suite.sending === 0) this.#reportSuite(suiteOf(result.id), suite);
  }

  #suiteOf(id: string): SuiteState | undefined {
    return this.#suites.get(suiteOf(id));
  }

  #report(what: string): void {
    const total = this.#options.instances.length * this.#options.rounds;
    const done = what === "" ? this.#done : ++this.#done;
    this.#options.onProgress({ kind: "checks", done, total, what });
  }

  #reportSuites(): void {
    const suites = [...this.#suites].map(
      ([suite, { done, total, sending, statuses, running }]): SuiteProgress => ({
        suite,
        done,
        total,
        failed: (statuses.get("fail") ?? 0) + (statuses.get("flaky") ?? 0),
        over: sending === 0,
        running: running.at(-1),
      }),
    );
    this.#options.onProgress({ kind: "suites", suites, leftS: this.#leftS() });
  }

  #leftS(): number {
    const ownS = this.#timeLeft.leftS(nowS());
    const { instances, target, rounds } = this.#options;
    const laterRounds = rounds - 1 - this.#round;
    return laterRounds <= 0 ? ownS : ownS + laterRounds * new TimeLeft(instances, target, nowS()).leftS(nowS());
  }

  /**
   * Reports the verdict of a suite once it has nothing left to send. It is preliminary: some checks judge the traffic of the
   * whole run at its end, and waivers and a policy apply last.
   */
  #reportSuite(name: string, { statuses, done, total }: SuiteState): void {
    const counts = STATUSES.filter((status) => statuses.has(status)).map(
      (status) => `${statuses.get(status)} ${status}`,
    );
    const has = (some: readonly string[]) => some.some((status) => statuses.has(status));
    const later = done === total ? "" : `; ${total - done} to be judged at the end of the run`;
    const verdict = has(["harness-error"]) ? "ERROR" : has(FAILED) ? "FAIL" : has(OPEN) ? "INCONCLUSIVE" : "PASS";
    this.#options.onProgress({ kind: "suite", verdict, text: `${name}: ${verdict} (${counts.join(", ")}${later})` });
  }

  /** Reports the causes that no earlier failure had. */
  #reportCauses(result: CheckResult): void {
    for (const [deviation, { title, requirement }] of causesByDeviation([result])) {
      if (this.#deviations.has(deviation)) continue;
      this.#deviations.add(deviation);
      if (this.#deviations.size > MAX_CAUSES) return;
      const text = `fail: ${title} (${requirement}, ${result.id})`;
      this.#options.onProgress({ kind: "cause", text: this.#options.redactor.redactValue(oneLine(text)) });
    }
  }
}

/** Parts may come from the gateway: control characters are replaced. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, " ");
}

function nowS(): number {
  return performance.now() / 1_000;
}
