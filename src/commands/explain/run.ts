import { type Explanation, explanationOf } from "../../checks/index.ts";
import { SCENARIOS } from "../../client-conformance/index.ts";
import { didYouMean, UsageError } from "../../core/index.ts";
import {
  isRequirementId,
  REQUIREMENTS,
  type Requirement,
  requirementOf,
  SPECIFICATION_PAGE,
  specificationPlaces,
} from "../../requirements/index.ts";
import { checksWith } from "../../run/suites/index.ts";

/**
 * Explains a check, or a requirement with the checks and client scenarios that cover it.
 *
 * @throws UsageError for an id that is neither.
 */
export async function explain(id: string, suite: readonly string[]): Promise<string> {
  const all = await checksWith(suite);
  const base = id.replace(/\[.*$/, "");
  const check = all.find((candidate) => candidate.id === base);
  if (check !== undefined) return explanationText(explanationOf(check));
  if (!isRequirementId(id))
    throw new UsageError(`unknown check or requirement "${id}"`, {
      hint: `${didYouMean(id, [...all.map((one) => one.id), ...REQUIREMENTS.map((one) => one.id)])}\`gauntlet checks\` lists all.`,
    });
  const requirement = requirementOf(id);
  const { level, layer, source, text } = requirement;
  const places = specificationPlaces(requirement).map((place) => `${SPECIFICATION_PAGE}#${place}`);
  const specification = places.length === 0 ? "" : `Specification: ${places.join(", ")}\n`;
  const covering = all
    .filter((candidate) => (candidate.covers as readonly string[]).includes(id))
    .map((candidate) => candidate.id);
  const scenarios = SCENARIOS.filter(({ requirements }) => requirements.includes(id)).map(({ name }) => name);
  const clients = scenarios.length === 0 ? "" : `Scenarios of \`gauntlet client\`: ${scenarios.join(", ")}\n`;
  return `${id} (${level}, ${layer}, ${source})\n  ${text}\n\n${specification}Checks: ${covering.join(", ") || "none"}\n${clients}`;
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
function sourcesNote(requirements: readonly Requirement[]): string[] {
  const [example] = requirements.flatMap(specificationPlaces);
  return example === undefined
    ? []
    : [`Sources such as ${example} are places in the specification: ${SPECIFICATION_PAGE}#${example}`];
}
