import { EXIT } from "../../core/index.ts";
import { outlineOf, type TierLength, type Workload } from "../../load/index.ts";
import { type Outcome, type Permit, permitLine } from "../../run/control/index.ts";

interface DryRun {
  readonly workloads: readonly Workload[];
  readonly length: TierLength;
  /** What the thresholds need that the workloads do not send. */
  readonly needs: readonly string[];
}

/** What a load would send. Sends nothing. */
export function dryRun(permit: Permit, { workloads, length, needs }: DryRun): Outcome {
  const { plan, target } = permit;
  const outline = workloads.flatMap((workload) => outlineOf(workload, target, length));
  const notes = [...needs, permitLine(permit)].map((line) => `gauntlet: ${line}`);
  return {
    exitCode: EXIT.pass,
    document: { exitCode: EXIT.pass, plan, outline, ...(needs.length === 0 ? {} : { notices: needs }) },
    text: () => [...outline, ...notes, ""].join("\n"),
  };
}
