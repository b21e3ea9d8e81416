import { type CheckResult, type RunRecord, type Status, worstStatus } from "../src/record/index.ts";
import { EXCLUSIONS } from "../src/requirements/index.ts";
import { describeObserved } from "./text/index.ts";

export const COLUMNS = [
  "chat non-streaming",
  "chat streaming",
  "messages non-streaming",
  "messages streaming",
  "other",
] as const;
export type Column = (typeof COLUMNS)[number];
export type Requirement = RunRecord["requirements"][number];

/** Whose behaviour a record describes: the client's if all its requirements bind clients, otherwise the gateway's. */
export function sideOf({ requirements }: RunRecord): Requirement["binds"] {
  return requirements.length > 0 && requirements.every(({ binds }) => binds === "client") ? "client" : "gateway";
}

/** The result of one requirement in one column: the worst status, and how many instances judged it. */
export interface Cell {
  readonly status: Status;
  readonly instances: number;
}

export interface CoveredRequirement {
  readonly requirement: Requirement;
  readonly cells: Readonly<Partial<Record<Column, Cell>>>;
  /** Worst of all cells; `undefined` when no instance judged the requirement. */
  readonly status: Status | undefined;
  /** Distinct behaviours observed where the specification is silent. */
  readonly observed: readonly string[];
  /** Why the requirement is excluded, if it is. */
  readonly excluded: string | undefined;
}

/** Requirements by dialect and mode. A check counts for a requirement only through its findings about that requirement. */
export function coverageOf(record: RunRecord): CoveredRequirement[] {
  const byRequirement = new Map<string, CheckResult[]>();
  for (const check of record.checks) {
    for (const requirement of new Set([
      ...check.requirements,
      ...check.findings.flatMap((finding) => finding.requirements),
    ])) {
      byRequirement.set(requirement, [...(byRequirement.get(requirement) ?? []), check]);
    }
  }
  // The reasons apply to the harness as a client, not to other clients.
  const known = sideOf(record) === "client" ? [] : EXCLUSIONS;
  const exclusions = new Map<string, string>(known.map(({ requirement, reason }) => [requirement, reason]));
  return record.requirements.map((requirement) => {
    const gathered = new Map<Column, Status[]>();
    const observed = new Set<string>();
    for (const check of byRequirement.get(requirement.id) ?? []) {
      const status = statusFor(check, requirement.id);
      if (status === undefined) continue;
      const column = columnOf(check);
      gathered.set(column, [...(gathered.get(column) ?? []), status]);
      for (const finding of check.findings) {
        if (finding.requirements.includes(requirement.id) && finding.outcome === "observed")
          observed.add(describeObserved(finding.observed));
      }
    }
    const cells = Object.fromEntries(
      [...gathered].map(([column, statuses]) => [
        column,
        { status: worstStatus(statuses), instances: statuses.length },
      ]),
    );
    const statuses = [...gathered.values()].flat();
    return {
      requirement,
      cells,
      status: statuses.length === 0 ? undefined : worstStatus(statuses),
      observed: [...observed],
      excluded: exclusions.get(requirement.id),
    };
  });
}

/** What an instance found about one of its requirements. A failure of another requirement does not count. */
function statusFor(check: CheckResult, requirement: string): Status | undefined {
  const said = check.findings.filter(({ requirements }) => requirements.includes(requirement));
  const broken = said.filter(({ outcome }) => outcome === "broken");
  if (broken.some(({ weight }) => weight === "fail")) return check.status === "flaky" ? "flaky" : "fail";
  if (broken.length > 0) return "warn";
  const judged = ["pass", "warn", "fail", "flaky", "observed"].includes(check.status);
  if (!judged) return check.status;
  if (said.some(({ outcome }) => outcome === "met")) return "pass";
  return said.length > 0 ? "observed" : undefined;
}

const DIALECTS = ["chat", "messages"];

function columnOf({ axes, suite }: CheckResult): Column {
  const dialect = [axes["dialect"], suite, axes["case"]].find((name) => name !== undefined && DIALECTS.includes(name));
  const column = `${dialect} ${axes["mode"] ?? "non-streaming"}`;
  return COLUMNS.find((known) => known === column) ?? "other";
}
