import { mayHideRegression } from "../../compare/index.ts";
import type { Workload } from "../../load/index.ts";
import type { Comparison } from "../../record/index.ts";
import { BLOCKS, lengthFactorFor } from "./block-size.ts";

interface Session {
  readonly workload: Workload;
  readonly pairs: number;
  /** Measured part of a block, s; `undefined`: the file of the workload has its length. */
  readonly blockS: number | undefined;
  readonly interruptedBy?: string | undefined;
}

/** How much of an interrupted session ran, or what would decide one that ended inconclusive; `undefined` if more load would not. */
export function nextStep(
  comparison: Comparison,
  { workload, pairs, blockS, interruptedBy }: Session,
): string | undefined {
  const { verdict, control, metrics, order } = comparison;
  if (interruptedBy !== undefined)
    return `Interrupted by ${interruptedBy} after ${order.length / BLOCKS} of ${pairs} rounds: the verdict covers only those.`;
  if (verdict !== "inconclusive" || metrics.length === 0) return undefined;
  if (control?.fit !== true) return "Run again on an idle machine.";
  const open = metrics.filter(mayHideRegression);
  const needed = Math.max(pairs, ...open.map(({ neededPairs }) => neededPairs ?? 0));
  const stats = open
    .filter(({ tooFewSamplesIn }) => tooFewSamplesIn !== undefined)
    .map(({ name }) => name.split(" ").at(-1) ?? "");
  // Longer blocks decide nothing if the gateway did not admit what they send.
  const factor = stats.length === 0 ? undefined : lengthFactorFor(stats, workload);
  const isLonger = factor !== undefined && factor > 1;
  const block = Math.ceil((blockS ?? 0) * (factor ?? 1));
  const steps = [
    ...(needed > pairs ? [`--pairs ${needed}`] : []),
    ...(isLonger && blockS !== undefined ? [`--block-s ${block}`] : []),
    ...(isLonger && blockS === undefined ? [`${factor.toFixed(1)} times as many requests in the workload`] : []),
  ];
  const minutes = blockS === undefined ? "" : ` (about ${Math.ceil((needed * BLOCKS * block) / 60)} min)`;
  return steps.length === 0 ? undefined : `For a verdict, run again with ${steps.join(" and ")}${minutes}.`;
}
