import { accountOfKey, readingRules } from "../../../checks/index.ts";
import { ConfigError, sleep } from "../../../core/index.ts";
import type { Redactor } from "../../../http/recorder/index.ts";
import { WINDOW_OVER_MS } from "../../../limits/index.ts";
import { accountOf, type LoadsContext, type Sample, type Workload } from "../../../load/index.ts";
import type { JudgedLoad, RunFolder } from "../../../record/index.ts";
import type { Target } from "../../../target/index.ts";
import {
  loadParts,
  type Permit,
  type PlanPart,
  planText,
  type RunControl,
  refusalOf,
  sumOf,
} from "../../control/index.ts";
import { judgeLoad } from "../../judge/index.ts";
import { HLOG, keepEvidence, runLoads } from "../../loads/index.ts";
import { findWorkload } from "../../open/index.ts";

/** The tier load of a run, as known before the first request. */
export interface TierPlan {
  /** One for each tier whose account the target has; only one in a quick run; none if load is not permitted. */
  readonly workloads: readonly Workload[];
  /** Tiers of the target that may not be loaded, and why. */
  readonly refused: { readonly names: readonly string[]; readonly why: string } | undefined;
  /** The maximum that they send. */
  readonly parts: readonly PlanPart[];
}

export interface TiersOptions {
  readonly plan: TierPlan;
  readonly permit: Permit;
  readonly target: Target;
  readonly seed: number;
  readonly redactor: Redactor;
  readonly folder: RunFolder;
  readonly quick: boolean;
  readonly control: RunControl;
  /** How long the checks have sent nothing on an account, ms; infinite if they never did. */
  readonly unusedForMs: (account: string) => number;
  readonly onGauge?: LoadsContext["onGauge"];
  readonly calibration?: LoadsContext["calibration"];
}

const TIERS = ["starter", "growth", "scale"];
/** One tier shows all phases; a quick run has no time for windows of a minute. */
const QUICK_TIER = "starter";

/**
 * Plans the load on the tiers of a run. If the plan is not permitted, `runTiers` reports why later.
 *
 * @param before everything else that the run sends.
 */
export function planTiers(target: Target, quick: boolean, before: readonly PlanPart[]): TierPlan {
  const workloads = (quick ? [QUICK_TIER] : TIERS).map(findWorkload).filter((workload) => hasAccount(workload, target));
  if (workloads.length === 0) return NO_TIERS;
  const parts = loadParts(target, workloads, lengthOf(quick));
  const why = refusalOf(target, sumOf([...before, ...parts], false), "load");
  return why === undefined
    ? { workloads, refused: undefined, parts }
    : { ...NO_TIERS, refused: { names: workloads.map(({ name }) => name), why } };
}

const NO_TIERS: TierPlan = { workloads: [], refused: undefined, parts: [] };

const lengthOf = (quick: boolean) => (quick ? "quick" : "brief");

/**
 * Concurrently runs the tiers whose accounts the target has.
 *
 * @returns `undefined` when it has none, or load is not permitted: the run then reports conformance only.
 */
export async function runTiers(options: TiersOptions): Promise<JudgedLoad | undefined> {
  const { target, folder, quick } = options;
  const { interruption, onProgress } = options.control;
  const { workloads, refused } = options.plan;
  if (refused !== undefined) onProgress({ kind: "note", text: `no load is generated: ${refused.why}` });
  if (workloads.length === 0) return undefined;
  const length = lengthOf(quick);
  onProgress({ kind: "note", text: planText(target, sumOf(options.plan.parts, true)) });
  // Requests of the checks on these accounts must have left every one-minute window.
  const unused = workloads.map((workload) => options.unusedForMs(accountOfKey(accountOf(workload, target).key)));
  const quietMs = WINDOW_OVER_MS - Math.min(...unused);
  if (quietMs > 0)
    onProgress({ kind: "step", text: "waiting for the rate windows of the tiers to empty", leftS: quietMs / 1_000 });
  if (quietMs > 0 && !(await sleep(quietMs, interruption.signal))) return undefined;
  const samples: Sample[] = [];
  const { section, hlog } = await runLoads(workloads, {
    ...options,
    budget: options.permit.budget,
    workers: 0,
    length,
    stop: interruption.signal,
    abort: interruption.now,
    ...keepEvidence({ folder, redactor: options.redactor, workloads, samples, onProgress }),
  });
  folder.file(HLOG, hlog);
  const judged = await judgeLoad(section, samples, readingRules(target), interruption);
  return { runs: judged.runs.map((run) => ({ ...run, hlog: HLOG })) };
}

function hasAccount(workload: Workload, target: Target): boolean {
  try {
    accountOf(workload, target);
    return true;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}
