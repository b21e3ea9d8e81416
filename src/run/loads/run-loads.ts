import type { LoadsContext } from "../../load/index.ts";
import {
  accountOf,
  calibrate,
  keysOfLoad,
  type RanLoad,
  runPeak,
  runTier,
  runWorkload,
  sendStreamsAfterLoad,
  shareValidity,
  streamsAfterLoad,
  Waves,
  type Workload,
} from "../../load/index.ts";
import { histogramLog } from "../../metrics/index.ts";
import type { JudgedLoad, LoadGenerator } from "../../record/index.ts";
import { loadParts } from "../control/index.ts";

/** Histogram log of a run, next to its record. */
export const HLOG = "load.hlog";

/** Runs workloads concurrently. */
export async function runLoads(
  workloads: readonly Workload[],
  context: LoadsContext,
): Promise<{ readonly section: JudgedLoad; readonly hlog: string }> {
  // Tier runs judge latencies, so the machine is measured first. Plain load begins at once.
  const judges = workloads.some(({ tier, engine }) => tier !== undefined && engine === "native");
  const isMeasured = context.calibration !== undefined;
  if (judges && !isMeasured) context.onStep("measuring this machine, so that its own delays are known");
  const calibration = judges ? (context.calibration ?? (await calibrate({ signal: context.stop }))) : null;
  const startedAtMs = Date.now();
  const waves = new Waves();
  const ran = await Promise.all(
    workloads.map((workload) =>
      runOne(workload, { ...context, outputTokens: tokensFor(workload, workloads, context) }, calibration, waves),
    ),
  );
  const histograms = ran.flatMap((result) => result.histograms);
  return { section: { runs: shareValidity(ran.map(({ run }) => run)) }, hlog: histogramLog(histograms, startedAtMs) };
}

/**
 * Output token limit of one of several concurrent workloads: the remaining budget, divided in proportion to their plans. The
 * plans are estimates; the gateway's own counts are charged to the budget.
 */
function tokensFor(
  workload: Workload,
  all: readonly Workload[],
  { target, budget, length }: Pick<LoadsContext, "target" | "budget" | "length">,
): number {
  const plannedOf = (some: readonly Workload[]) =>
    loadParts(target, some, length).reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  const left = budget.left().outputTokens;
  const planned = plannedOf(all);
  return planned === 0 ? left : Math.ceil((left * plannedOf([workload])) / planned);
}

async function runOne(
  workload: Workload,
  context: LoadsContext & { readonly outputTokens: number | undefined },
  calibration: LoadGenerator["calibration"],
  waves: Waves,
): Promise<RanLoad> {
  const { target } = context;
  if (workload.engine === "k6") return (await import("./run-k6.ts")).runK6(workload, context);
  if (workload.tier !== undefined) {
    const account = accountOf(workload, target);
    return runTier(
      { name: workload.name, limits: account.limits, written: workload.written, length: context.length, waves },
      { ...context, keys: keysOfLoad(workload, target), calibration },
    );
  }
  const loaded = { ...context, keys: keysOfLoad(workload, target), calibration };
  const ran =
    workload.engine === "autocannon"
      ? await runPeak(workload, loaded, (await import("../../engines/index.ts")).closedLoopPeak)
      : await runWorkload(workload, loaded);
  for (const phase of ran.run.phases) context.onPhase(ran.run.name, phase);
  const streams = streamsAfterLoad(workload, target);
  if (streams === 0 || context.stop.aborted) return ran;
  return { ...ran, run: { ...ran.run, afterLoad: await sendStreamsAfterLoad(workload.name, streams, loaded) } };
}
