import { type Explanation, explanationOf, suiteOf } from "../../src/checks/index.ts";
import { EXCLUSIONS, linkedSource, requirementOf } from "../../src/requirements/index.ts";
import { CHECKS } from "../../suites/index.ts";
import { escapedMarkdown, markdownCell } from "./markdown-text.ts";

/** `docs/checks.md`: every check with what `gauntlet explain` says about it. */
export function checksPage(): string {
  const explanations = CHECKS.map((check) => explanationOf(check));
  const suites = [...new Set(explanations.map(({ id }) => suiteOf(id)))];
  const instances = explanations.reduce((sum, explanation) => sum + explanation.instances.length, 0);
  return [
    `# Every check explained

Generated from the checks and the requirements by \`npm run generate\`; \`gauntlet explain ID\` prints the same.

${explanations.length} checks, ${instances} check instances. A check instance is a check with one combination of its parameters, such as
\`errors.key-revoked[messages,streaming]\`. \`gauntlet conform --only\` takes a check, an instance or a requirement.

The level of a requirement: **MUST** fails the run, **SHOULD** warns, **MAY** is judged only where it is present, **OPEN** (the
[specification](specification.md) leaves it open) is observed and never counts. Requirements of the layers *protocol* (standards,
common sense) and *compat* (what real clients need) are reported separately from those of the specification.

When a check fails: read what was expected and what was observed, repeat the exchange with the curl line that is printed
with it, and fix the gateway. If the gateway says the same thing in other words, map it in the target file
([\`contract\`](target-file.md#overrides-what-the-gateway-expresses-differently)). If the defect is known and accepted for now, write a
[waiver](guide.md#7-waivers). If the check is wrong, the run folder contains all that is needed to show
it: \`gauntlet rejudge DIR\` judges the recording again without sending anything.`,
    suites.map((suite) => `- [${suite}](#suite-${suite})`).join("\n"),
    ...suites.map((suite) => suiteSection(suite, explanations)),
    exclusions(),
  ]
    .join("\n\n")
    .concat("\n");
}

function suiteSection(suite: string, explanations: readonly Explanation[]): string {
  const own = explanations.filter(({ id }) => suiteOf(id) === suite);
  return [`## Suite ${suite}`, ...own.map(checkSection)].join("\n\n");
}

function checkSection({ id, title, layer, instances, text, onFailure, needs, requirements }: Explanation): string {
  const lines = needs.map(({ need, lines: unblock }) =>
    unblock.length === 0 ? `\`${need}\`` : `\`${need}\` (\`${unblock.map((line) => line.trim()).join(" ")}\`)`,
  );
  const axes = instances.map((instance) => instance.slice(id.length)).filter((axis) => axis !== "");
  return [
    `### ${id}`,
    `**${escapedMarkdown(title)}.** Layer: ${layer}.${axes.length === 0 ? "" : ` Instances: ${axes.map((axis) => `\`${axis}\``).join(" ")}.`}`,
    escapedMarkdown(text),
    `*When it fails:* ${onFailure}`,
    ...(lines.length === 0 ? [] : [`*Needs:* ${lines.join(", ")}.`]),
    ["| requirement | level | source | statement |", "|---|---|---|---|", ...requirements.map(rowLine)].join("\n"),
  ].join("\n\n");
}

function rowLine(requirement: Explanation["requirements"][number]): string {
  const { id, level, text } = requirement;
  const source = linkedSource(requirement, (place) => `[${place}](specification.md#${place})`);
  return `| ${id} | ${level} | ${markdownCell(source)} | ${markdownCell(text)} |`;
}

function exclusions(): string {
  const lines = EXCLUSIONS.map(
    ({ requirement, kind, reason }) =>
      `| ${requirement} | ${requirementOf(requirement).level} | ${kind} | ${markdownCell(reason)} |`,
  );
  return `## Requirements without a check

| requirement | level | why | reason |
|---|---|---|---|
${lines.join("\n")}`;
}
