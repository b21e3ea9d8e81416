import { UsageError } from "../core/index.ts";
import type { Dialect } from "../dialects/index.ts";
import type { Target } from "../target/index.ts";
import type { Workload } from "./workload.ts";

/**
 * A workload without the requests in dialects that the target does not serve: those of its mix, and those of its trace. A tier
 * run chooses its requests by the target itself.
 *
 * @throws UsageError when it has no others.
 */
export function servedWorkload(workload: Workload, { dialects }: Pick<Target, "dialects">): Workload {
  const { arrivals, tier, name } = workload;
  if (tier !== undefined) return workload;
  const isServed = ({ dialect }: { readonly dialect: Dialect }) => dialects.includes(dialect);
  const replays = arrivals?.kind === "replay";
  const entries = replays ? arrivals.entries.filter(isServed) : [];
  // The requests of a replay are those of its trace, whatever the mix says.
  const mix = replays ? workload.mix : workload.mix.filter(isServed);
  if (mix.length === 0 || (replays && entries.length === 0)) {
    throw new UsageError(`${name} has no request in a dialect that the target serves`, {
      hint: `The target declares dialects: [${dialects.join(", ")}].`,
    });
  }
  return { ...workload, mix, ...(replays && { arrivals: { ...arrivals, entries } }) };
}
