/**
 * `tsx scripts/docs/causes-of-runs.ts NAME=RUN_FOLDER …`: prints a page with the causes of the failures and warnings in each run.
 * A page under docs/real-gateways/ is generated with it.
 */
import { causesInWords } from "../../reports/causes.ts";
import { cellText, namedRuns } from "./named-runs.ts";

const sections = namedRuns().map(({ name, record }) => {
  const lines = record.causes.map(({ title, requirement, weight, checks }) => {
    const words = weight === "fail" ? "failure" : "warning";
    return `| ${cellText(title)} | \`${requirement}\` | ${words} | ${checks.length} |`;
  });
  const table = ["| cause | requirement | as | checks |", "|---|---|---|---|", ...lines];
  return `## ${name}\n\n${causesInWords(record) ?? "Nothing failed."}\n${lines.length === 0 ? "" : `\n${table.join("\n")}\n`}`;
});
process.stdout.write(`# Causes

What is behind the failures and warnings of the runs of [real gateways](../real-gateways.md): each deviation once, with the number of
checks that show it. A check that shows two deviations counts twice.

${sections.join("\n")}`);
