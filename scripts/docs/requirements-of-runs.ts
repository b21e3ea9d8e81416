/**
 * `tsx scripts/docs/requirements-of-runs.ts NAME=RUN_FOLDER …`: prints a page with each gateway's results for every requirement,
 * the worst first. A page under docs/real-gateways/ is generated with it.
 */
import { type CoveredRequirement, coverageOf } from "../../reports/coverage.ts";
import { cellText, namedRuns } from "./named-runs.ts";

const runs = namedRuns().map(({ name, record }) => ({
  name,
  requirements: new Map(coverageOf(record).map((covered) => [covered.requirement.id, covered])),
}));

function cell(covered: CoveredRequirement | undefined): string {
  if (covered?.status !== undefined) return covered.status;
  return covered?.excluded === undefined ? "–" : "not judged";
}

const requirements = [...(runs[0]?.requirements.values() ?? [])].map(({ requirement }) => requirement);
const lines = requirements.map(({ id, level, text }) => {
  const cells = runs.map((run) => cell(run.requirements.get(id)));
  return `| ${[`\`${id}\``, level, cellText(text), ...cells].join(" | ")} |`;
});
process.stdout.write(`# Requirement by requirement

What the runs of [real gateways](../real-gateways.md) showed of every statement: the worst of all that was seen of it. *Blocked*
wants something that the target does not have, *not judged* requirements are excluded with a reason ([coverage](../coverage.md)).

| requirement | level | statement | ${runs.map(({ name }) => name).join(" | ")} |
|---|---|---|${runs.map(() => "---|").join("")}
${lines.join("\n")}
`);
