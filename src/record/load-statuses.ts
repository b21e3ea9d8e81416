import type { Finding } from "./check-result.ts";
import type { LoadSection } from "./load-section.ts";
import type { Status } from "./status.ts";

/** A part of a load run as a check is told: its id, what came of it, and why. */
export interface LoadStatus {
  /** `load.starter`, `load.starter.over-rate-limit`, `load.starter.over-rate-limit.rate.exceeded`. */
  readonly id: string;
  readonly status: Status;
  readonly message: string;
}

/** Runs, phases and findings of a load as statuses, so that they are compared like checks. */
export function loadStatuses(section: LoadSection | undefined): LoadStatus[] {
  return (section?.runs ?? []).flatMap((run) => [
    { id: `load.${run.name}`, status: run.verdict, message: run.reasons[0] ?? "" },
    ...run.phases.flatMap((phase) => [
      { id: `load.${run.name}.${phase.name}`, status: phase.verdict, message: phase.message },
      ...phase.findings.map((finding) => ({
        id: `load.${run.name}.${phase.name}.${finding.name}`,
        status: statusOfFinding(finding),
        message: finding.observed,
      })),
    ]),
  ]);
}

/** What a finding of a load is worth as the status of a check. */
export function statusOfFinding({ outcome, weight }: Pick<Finding, "outcome" | "weight">): Status {
  if (outcome === "broken") return weight === "fail" ? "fail" : "warn";
  if (outcome === "met") return "pass";
  return outcome === "undecided" ? "inconclusive" : "observed";
}
