import { linkedSource, PROFILES, type Profile, profileHash, requirementOf } from "../../src/requirements/index.ts";

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
  const checks = Object.entries(optionalChecks).map(
    ([check, part]) => `\`${check}\` counts only if the target file declares \`${part}\`.`,
  );
  return [
    `## ${name}`,
    `**${title}**, version ${version}. ${why}`,
    [
      `Judged by the suites ${suites.join(", ")}${dialect === undefined ? "" : `, in the ${dialect} dialect`}.`,
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
  const text = requirement.text.replaceAll("<", "&lt;").replaceAll("*", "\\*").replaceAll("|", "\\|");
  return `| ${id} | ${level}${raised}${condition} | ${source} | ${text} |`;
}
