import { groupBy } from "../../src/core/index.ts";
import { linkedSource, PROFILES, type Profile, profileHash, requirementOf } from "../../src/requirements/index.ts";
import { markdownCell } from "./markdown-text.ts";

/** The part of `docs/profiles.md` that lists every profile with its requirements. */
export function profilesReference(): string {
  return [
    [
      "| profile | version | MUST | SHOULD and MAY | suites |",
      "|---|--:|--:|--:|---|",
      ...PROFILES.map(summaryRow),
    ].join("\n"),
    ...PROFILES.map(section),
  ].join("\n\n");
}

function summaryRow({ name, version, requirements, suites }: Profile): string {
  const must = requirements.filter(({ level }) => level === "MUST").length;
  return `| [\`${name}\`](#${name}) | ${version} | ${must} | ${requirements.length - must} | ${suites.join(", ")} |`;
}

function section(profile: Profile): string {
  const { name, version, title, why, dialect, suites, requirements, optionalChecks } = profile;
  const checks = [...groupBy(Object.entries(optionalChecks), ([, part]) => part)].map(
    ([part, own]) =>
      `${listed(own.map(([check]) => `\`${check}\``))} ${own.length === 1 ? "counts" : "count"} only if the target file declares \`${part}\`.`,
  );
  return [
    `## ${name}`,
    `**${title}**, version ${version}. ${why}`,
    [
      `Judged by the ${suites.length === 1 ? "suite" : "suites"} ${listed(suites)}${dialect === undefined ? "" : `, in the ${dialect} dialect`}.`,
      ...checks,
      `SHA-256 \`${profileHash(profile)}\`.`,
    ].join(" "),
    ["| requirement | level | source | statement |", "|---|---|---|---|", ...requirements.map(row)].join("\n"),
  ].join("\n\n");
}

function row({ id, level, part }: Profile["requirements"][number]): string {
  const requirement = requirementOf(id);
  const raised = level === requirement.level ? "" : `, raised from ${requirement.level}`;
  const condition = part === undefined ? "" : `, with \`${part}\``;
  const source = linkedSource(requirement, (place) => `[${place}](specification.md#${place})`);
  return `| ${id} | ${level}${raised}${condition} | ${source} | ${markdownCell(requirement.text)} |`;
}

/** `a`, `a and b`, `a, b and c`. */
const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
