import { type CheckResult, type RunRecord, type Status, worstStatus } from "../src/record/index.ts";
import { EXCLUSIONS } from "../src/requirements/index.ts";

export const COLUMNS = [
  "chat non-streaming",
  "chat streaming",
  "messages non-streaming",
  "messages streaming",
  "other",
] as const;
export type Column = (typeof COLUMNS)[number];
export type Requirement = RunRecord["requirements"][number];

/** Whose behaviour a record is about: a gateway's, or where it holds requirements of clients alone, a client's. */
export function sideOf({ requirements }: RunRecord): Requirement["binds"] {
  return requirements.length > 0 && requirements.every(({ binds }) => binds === "client") ? "client" : "gateway";
}

/** What became of one requirement in one column: the worst, and how many instances said anything about it. */
export interface Cell {
  readonly status: Status;
  readonly instances: number;
}

export interface CoveredRequirement {
  readonly requirement: Requirement;
  readonly cells: Readonly<Partial<Record<Column, Cell>>>;
  /** Worst of all cells; `undefined` when nothing said anything about the requirement. */
  readonly status: Status | undefined;
  /** What was seen where the specification is silent, each once. */
  readonly observed: readonly string[];
  /** Why nothing judges it, if that was decided. */
  readonly excluded: string | undefined;
}

/** Requirement requirements against dialect and mode. A check counts for a requirement only by what it said about that requirement. */
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
  // Reasons are about the harness as a client; they say nothing about somebody else's.
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
          observed.add(finding.observed);
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

/** What an instance says about one of its requirements. A failure of another requirement says nothing about this one. */
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
