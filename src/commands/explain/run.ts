import { shellWord } from "../../../reports/index.ts";
import { customRequirementsOf, type Explanation, explanationOf } from "../../checks/index.ts";
import { SCENARIOS } from "../../client-conformance/index.ts";
import { didYouMean, UsageError } from "../../core/index.ts";
import {
  isRequirementId,
  PROFILE_NAMES,
  type Profile,
  profileHash,
  profileNamed,
  REQUIREMENTS,
  requirementOf,
  SPECIFICATION_PAGE,
  specificationPlaces,
} from "../../requirements/index.ts";
import { checksWith } from "../../run/suites/index.ts";

/**
 * Explains a check, a requirement with the checks and client scenarios that cover it, or a profile.
 *
 * @throws UsageError for an id that is none of them.
 */
export async function explain(id: string, suite: readonly string[]): Promise<string> {
  const all = await checksWith(suite);
  const base = id.replace(/\[.*$/, "");
  const check = all.find((candidate) => candidate.id === base);
  if (check !== undefined)
    return explanationText(
      explanationOf(
        check,
        suite.flatMap((file) => ["--suite", shellWord(file)]),
      ),
    );
  const profile = profileNamed(id);
  if (profile !== undefined) return profileText(profile);
  const custom = customRequirementsOf(all);
  const requirement = isRequirementId(id) ? requirementOf(id) : custom.find((one) => one.id === id);
  if (requirement === undefined)
    throw new UsageError(`unknown check, requirement or profile "${id}"`, {
      hint: `${didYouMean(id, [...all.map((one) => one.id), ...[...REQUIREMENTS, ...custom].map((one) => one.id), ...PROFILE_NAMES])}\`gauntlet checks\` lists all.`,
    });
  const { level, layer, source, text } = requirement;
  const places = specificationPlaces(requirement).map((place) => `${SPECIFICATION_PAGE}#${place}`);
  const specification = places.length === 0 ? "" : `Specification: ${places.join(", ")}\n`;
  const covering = all.filter((candidate) => candidate.covers.includes(id)).map((candidate) => candidate.id);
  const scenarios = SCENARIOS.filter(({ requirements }) => requirements.some((one) => one === id)).map(
    ({ name }) => name,
  );
  const clients = scenarios.length === 0 ? "" : `Scenarios of \`gauntlet client\`: ${scenarios.join(", ")}\n`;
  return `${id} (${level}, ${layer}, ${source})\n  ${text}\n\n${specification}Checks: ${covering.join(", ") || "none"}\n${clients}`;
}

/** A profile with its requirements, for the terminal. */
function profileText(profile: Profile): string {
  const { name, version, title, why, suites, dialect, requirements } = profile;
  const lines = requirements.map(({ id, level, part }) => {
    const condition = part === undefined ? "" : `, if the target declares ${part}`;
    return `  ${id} (${level}${condition}): ${requirementOf(id).text}`;
  });
  return [
    `profile ${name}, version ${version}: ${title}`,
    why,
    `Suites that must have judged it: ${suites.join(", ")}${dialect === undefined ? "" : `; ${dialect} dialect`}`,
    `Requirements:\n${lines.join("\n")}`,
    `SHA-256 ${profileHash(profile)}`,
  ]
    .join("\n\n")
    .concat("\n");
}

/** An explanation for the terminal. */
function explanationText({ id, title, text, onFailure, needs, requirements }: Explanation): string {
  const needed = needs.map(({ need, lines }) => `  ${need}${lines.map((line) => `\n      ${line}`).join("")}`);
  return [
    `${id}: ${title}`,
    text,
    `When it fails: ${onFailure}`,
    ...(needed.length === 0 ? [] : [`Needs, and the lines of the target file that provide it:\n${needed.join("\n")}`]),
    `Requirements:\n${requirements.map((requirement) => `  ${requirement.id} (${requirement.level}, ${requirement.source}): ${requirement.text}`).join("\n")}`,
    ...sourcesNote(requirements),
  ]
    .join("\n\n")
    .concat("\n");
}

/** Where to look up sources such as 5.R3, if there are any. */
function sourcesNote(requirements: Explanation["requirements"]): string[] {
  const [example] = requirements.flatMap(specificationPlaces);
  return example === undefined
    ? []
    : [`Sources such as ${example} are places in the specification: ${SPECIFICATION_PAGE}#${example}`];
}
