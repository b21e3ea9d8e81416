import { availableParallelism } from "node:os";
import type { ConcurrentLoad, Traffic } from "../../../checks/index.ts";
import { InternalError, messageOf } from "../../../core/index.ts";
import { calibrate, problemsOf } from "../../../load/index.ts";
import type { JudgedLoad } from "../../../record/index.ts";
import { keysOf, type Provisioner, type Target } from "../../../target/index.ts";
import { sumOf } from "../../control/index.ts";
import { LOAD_DISCARDED } from "../../record/index.ts";
import { runTiers, type TiersOptions } from "./run-tiers.ts";

/** The options for measuring the tiers of a run. */
type StepOptions = Omit<TiersOptions, "unusedForMs" | "target">;

/** With fewer, checks and load would share a CPU. */
const MIN_CPUS = 2;
/** A machine with a higher p99 lag on its own, ms, is too slow for both. */
const CONCURRENT_LOAD_BOUNDS = { deliveryLagP99Ms: 20, scheduleLagP99Ms: 20 };

/** Whether load and checks run at the same time, unless this machine turns out to be too busy for both. */
export const canRunConcurrently = (provisioner: Provisioner | undefined, quick: boolean): boolean =>
  !quick && provisioner?.loadAccounts !== undefined && availableParallelism() >= MIN_CPUS;

/**
 * The tiers of a run. If the target can create unused accounts for them, and this machine is on time, they run concurrently
 * with the checks. A tier that does not pass then is measured again alone, so that interference from checks never fails a
 * gateway.
 */
export class TierRuns {
  readonly #options: StepOptions;
  readonly #provisioner: Provisioner | undefined;
  readonly #gauges: (() => number)[] = [];
  #concurrent: Promise<JudgedLoad | undefined> | undefined;
  #sentBefore = 0;

  constructor(options: StepOptions, provisioner: Provisioner | undefined) {
    this.#options = options;
    this.#provisioner = provisioner;
  }

  /** Requests of tiers in flight. */
  get inFlight(): number {
    return this.#gauges.reduce((sum, gauge) => sum + gauge(), 0);
  }

  /** Requests of discarded measurements. */
  get sentBefore(): number {
    return this.#sentBefore;
  }

  /** Starts the load concurrently with the checks if possible. */
  async startConcurrently(target: Target): Promise<ConcurrentLoad | undefined> {
    const { plan, quick, control } = this.#options;
    if (plan.workloads.length === 0 || !canRunConcurrently(this.#provisioner, quick)) return undefined;
    control.onProgress({ kind: "step", text: "measuring this machine, so that its own delays are known" });
    const calibration = await calibrate({ signal: control.interruption.signal });
    if (control.interruption.signal.aborted) return undefined;
    const slow = problemsOf(calibration, CONCURRENT_LOAD_BOUNDS);
    if (slow.length > 0) {
      const text = `this machine is too busy to run load and checks in parallel (${slow.join("; ")}): the load runs after the checks`;
      control.onProgress({ kind: "note", text });
      return undefined;
    }
    const loaded = await this.#withOwnAccounts(target);
    this.#concurrent = runTiers({
      ...this.#options,
      target: loaded,
      calibration,
      unusedForMs: () => Number.POSITIVE_INFINITY,
      onGauge: (gauge) => this.#gauges.push(gauge),
    });
    const ended = this.#concurrent.then(
      () => undefined,
      // Errors are reported when the result is requested.
      () => undefined,
    );
    return { ended };
  }

  /** The load, after the checks are over. */
  async result(traffic: Traffic): Promise<JudgedLoad | undefined> {
    const { interruption, onProgress } = this.#options.control;
    if (this.#concurrent !== undefined) {
      const first = await this.#concurrent.catch((error: unknown) => messageOf(error));
      if (typeof first !== "string" && (interruption.signal.aborted || first === undefined || hasPassed(first)))
        return first;
      if (interruption.signal.aborted) return undefined;
      const why =
        typeof first === "string" ? first : `${openOf(first).join(", ")} did not pass in parallel with the checks`;
      const { permit, plan } = this.#options;
      if (!permit.more(sumOf(plan.parts, true))) {
        onProgress({ kind: "note", text: `${why}; the budget has no room to repeat the load on the tiers` });
        if (typeof first === "string") throw new InternalError(first);
        return first;
      }
      this.#options.folder.journal({ event: LOAD_DISCARDED });
      onProgress({ kind: "note", text: `load on the tiers is generated again, without concurrent checks: ${why}` });
      this.#sentBefore += typeof first === "string" ? 0 : sentBy(first);
      const target = await this.#withOwnAccounts(traffic.target);
      return runTiers({ ...this.#options, target, unusedForMs: () => Number.POSITIVE_INFINITY });
    }
    if (interruption.signal.aborted) return undefined;
    const unusedForMs = (account: string) => traffic.sent.unusedForMs(account);
    return runTiers({ ...this.#options, target: traffic.target, unusedForMs });
  }

  /** The target with new accounts that replace those used by checks. */
  async #withOwnAccounts(target: Target): Promise<Target> {
    const tiers = (await this.#provisioner?.loadAccounts?.()) ?? target.tiers;
    for (const key of Object.values(tiers).flatMap(keysOf)) this.#options.redactor.add(key.secret());
    return { ...target, tiers };
  }
}

function openOf({ runs }: JudgedLoad): string[] {
  return runs.filter(({ verdict }) => verdict !== "pass").map(({ name }) => name);
}

const hasPassed = (load: JudgedLoad): boolean => openOf(load).length === 0;

/** Number of requests that load sent. */
export function sentBy(load: JudgedLoad | undefined): number {
  return (load?.runs ?? []).flatMap(({ phases }) => phases).reduce((sum, { sent }) => sum + sent, 0);
}
