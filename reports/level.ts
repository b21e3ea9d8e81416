import type { Finding, RunRecord } from "../src/record/index.ts";

/** `LIMIT-CONC-1 (MUST)`: the main requirement of a finding, or the finding's name if it has none. */
export function requirementWithLevel(record: RunRecord, finding: Finding): string {
  const level = levelOf(record, finding);
  return `${finding.requirements[0] ?? finding.name}${level === undefined ? "" : ` (${level})`}`;
}

/** Level of the main requirement of a finding. */
export function levelOf({ requirements }: RunRecord, finding: Finding): string | undefined {
  return requirements.find(({ id }) => id === finding.requirements[0])?.level;
}
