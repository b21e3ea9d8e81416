/**
 * `tsx scripts/docs/rows-of-runs.ts NAME=RUN_FOLDER …`: prints a page with what each gateway does on every row, worst first
 * of all that was seen of it. The page under docs/real-gateways/ is made so.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CoveredRow, coverageOf } from "../../reports/coverage.ts";
import type { RunRecord } from "../../src/record/index.ts";

const runs = process.argv.slice(2).map((argument) => {
  const [name = "", folder = ""] = argument.split("=");
  const record: RunRecord = JSON.parse(readFileSync(join(folder, "run.json"), "utf8"));
  return { name, rows: new Map(coverageOf(record).map((covered) => [covered.row.id, covered])) };
});

function cell(covered: CoveredRow | undefined): string {
  if (covered?.status !== undefined) return covered.status;
  return covered?.excluded === undefined ? "–" : "not judged";
}

const rows = [...(runs[0]?.rows.values() ?? [])].map(({ row }) => row);
const lines = rows.map(({ id, level, text }) => {
  const cells = runs.map((run) => cell(run.rows.get(id)));
  return `| ${[`\`${id}\``, level, text.replaceAll("|", "\\|"), ...cells].join(" | ")} |`;
});
process.stdout.write(`# Row by row

What the runs of [real gateways](../real-gateways.md) showed of every statement: the worst of all that was seen of it. *Blocked*
wants something that the target does not have, *not judged* rows are excluded with a reason ([coverage](../coverage.md)).

| row | level | statement | ${runs.map(({ name }) => name).join(" | ")} |
|---|---|---|${runs.map(() => "---|").join("")}
${lines.join("\n")}
`);
