import { type CheckResult, type RunRecord, STATUSES, type Status } from "../src/record/index.ts";
import { EXCLUSIONS } from "../src/requirements/index.ts";

export const COLUMNS = ["chat non-streaming", "chat streaming", "messages non-streaming", "messages streaming", "other"] as const;
export type Column = (typeof COLUMNS)[number];
export type Row = RunRecord["rows"][number];

/** Whose conduct a record is about: a gateway's, or where it holds rows of clients alone, a client's. */
export function sideOf({ rows }: RunRecord): Row["binds"] {
  return rows.length > 0 && rows.every(({ binds }) => binds === "client") ? "client" : "gateway";
}

/** What became of one row in one column: the worst, and how many instances said anything about it. */
export interface Cell {
  readonly status: Status;
  readonly instances: number;
}

export interface CoveredRow {
  readonly row: Row;
  readonly cells: Readonly<Partial<Record<Column, Cell>>>;
  /** Worst of all cells; `undefined` when nothing said anything about the row. */
  readonly status: Status | undefined;
  /** What was seen where the specification is silent, each once. */
  readonly observed: readonly string[];
  /** Why nothing judges it, if that was decided. */
  readonly excluded: string | undefined;
}

/** Requirement rows against dialect and mode. A check counts for a row only by what it said about that row. */
export function coverageOf(record: RunRecord): CoveredRow[] {
  const byRow = new Map<string, CheckResult[]>();
  for (const check of record.checks) {
    for (const row of new Set([...check.rows, ...check.findings.map((finding) => finding.row)])) {
      byRow.set(row, [...(byRow.get(row) ?? []), check]);
    }
  }
  // Reasons are about the harness as a client; they say nothing about somebody else's.
  const known = sideOf(record) === "client" ? [] : EXCLUSIONS;
  const exclusions = new Map<string, string>(known.map(({ row, reason }) => [row, reason]));
  return record.rows.map((row) => {
    const gathered = new Map<Column, Status[]>();
    const observed = new Set<string>();
    for (const check of byRow.get(row.id) ?? []) {
      const status = statusFor(check, row.id);
      if (status === undefined) continue;
      const column = columnOf(check);
      gathered.set(column, [...(gathered.get(column) ?? []), status]);
      for (const finding of check.findings) {
        if (finding.row === row.id && finding.outcome === "observed") observed.add(finding.observed);
      }
    }
    const cells = Object.fromEntries(
      [...gathered].map(([column, statuses]) => [column, { status: worst(statuses), instances: statuses.length }]),
    );
    const statuses = [...gathered.values()].flat();
    return {
      row,
      cells,
      status: statuses.length === 0 ? undefined : worst(statuses),
      observed: [...observed],
      excluded: exclusions.get(row.id),
    };
  });
}

/** What an instance says about one of its rows. A failure of another row says nothing about this one. */
function statusFor(check: CheckResult, row: string): Status | undefined {
  const said = check.findings.filter((finding) => finding.row === row);
  const broken = said.filter(({ outcome }) => outcome === "broken");
  if (broken.some(({ weight }) => weight === "fail")) return check.status === "flaky" ? "flaky" : "fail";
  if (broken.length > 0) return "warn";
  const judged = ["pass", "warn", "fail", "flaky", "observed"].includes(check.status);
  if (!judged) return check.status;
  if (said.some(({ outcome }) => outcome === "met")) return "pass";
  return said.length > 0 ? "observed" : undefined;
}

export function worst(statuses: readonly Status[]): Status {
  return STATUSES.find((status) => statuses.includes(status)) ?? "not-applicable";
}

const DIALECTS = ["chat", "messages"];

function columnOf({ axes, suite }: CheckResult): Column {
  const dialect = [axes["dialect"], suite, axes["case"]].find((name) => name !== undefined && DIALECTS.includes(name));
  const column = `${dialect} ${axes["mode"] ?? "non-streaming"}`;
  return COLUMNS.find((known) => known === column) ?? "other";
}
