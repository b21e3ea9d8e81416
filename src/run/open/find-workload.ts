import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { didYouMean, didYouMeanPath, UsageError } from "../../core/index.ts";
import { loadWorkload, type Workload } from "../../load/index.ts";

/** Tiers and workloads that ship with Gauntlet. */
export const SHIPPED_WORKLOADS = [
  ...["starter", "growth", "scale", "own", "peak", "soak", "stress"],
  ...["rolling-restart", "rolling-restart-capacity", "kill", "upstream-outage", "slow-upstream"],
  ...["counter-store-outage", "counter-store-limits", "counter-store-cost"],
];

/** A workload by the name of a shipped one, or by its path. */
export function findWorkload(name: string): Workload {
  const shipped = /^[a-z-]+$/.test(name) ? shippedWorkload(name) : undefined;
  if (shipped === undefined && !existsSync(name)) {
    // A bare word is a mistyped name.
    const isWord = /^[\w-]+$/.test(name);
    throw new UsageError(
      isWord ? `no tier, built-in workload or file is named "${name}"` : `there is no workload file "${name}"`,
      {
        hint: `${isWord ? didYouMean(name, SHIPPED_WORKLOADS) : didYouMeanPath(name)}Built in: ${SHIPPED_WORKLOADS.join(", ")}. To send your own, name a YAML file. See \`gauntlet load --help\`.`,
      },
    );
  }
  return loadWorkload(shipped ?? name);
}

/** The folder of shipped workloads is at the same depth relative to the source and to the build. */
function shippedWorkload(name: string): string | undefined {
  const path = fileURLToPath(new URL(`../../../suites/throughput/${name}.yaml`, import.meta.url));
  return existsSync(path) ? path : undefined;
}
