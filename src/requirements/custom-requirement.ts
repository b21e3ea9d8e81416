import { isObject } from "../core/index.ts";
import { isRequirementId, REQUIREMENTS, type Requirement } from "./requirements.ts";

/** Levels of a custom requirement: a violated MUST fails, a violated SHOULD warns. */
export type CustomLevel = "MUST" | "SHOULD";

/**
 * A requirement of a custom suite. It is reported like a built-in one, but it is not part of the specification's coverage, of a
 * profile or of a claim.
 */
export interface CustomRequirement<L extends CustomLevel = CustomLevel>
  extends Omit<Requirement, "id" | "layer" | "level"> {
  readonly id: string;
  readonly layer: "custom";
  readonly level: L;
}

/** A requirement, built-in or of a custom suite. */
export type AnyRequirement = Requirement | CustomRequirement;

export interface CustomRequirementSpec<L extends CustomLevel = CustomLevel> {
  /** Uppercase letters and digits, separated by hyphens: `ACME-REGION`. The first part is not that of a built-in requirement. */
  readonly id: string;
  readonly level: L;
  /** What is required, as a sentence. */
  readonly text: string;
  /** Where it is written down, such as a document or a ticket. Default: `custom suite`. */
  readonly source?: string;
}

const ID = /^[A-Z][A-Z0-9]*(-[A-Z0-9]+)+$/;
const LEVELS: readonly unknown[] = ["MUST", "SHOULD"] satisfies CustomLevel[];

const firstPart = (id: string): string => id.slice(0, id.indexOf("-"));
const RESERVED: ReadonlySet<string> = new Set(REQUIREMENTS.map(({ id }) => firstPart(id)));

/**
 * Declares a requirement that checks of a custom suite cover.
 *
 * @throws TypeError that lists every problem. Its stack leads to the definition.
 */
export function defineRequirement<const L extends CustomLevel>(spec: CustomRequirementSpec<L>): CustomRequirement<L> {
  const problems = problemsOf(spec);
  if (problems.length > 0) {
    const name =
      isObject(spec) && typeof spec["id"] === "string" ? `the requirement "${spec["id"]}"` : "the requirement";
    throw new TypeError(`${name} is not defined correctly: ${problems.join("; ")}`);
  }
  const { id, level, text, source = "custom suite" } = spec;
  return { id, layer: "custom", level, binds: "gateway", area: firstPart(id).toLowerCase(), source, text };
}

/** Suites are not type-checked when they are loaded. */
function problemsOf(spec: unknown): string[] {
  if (!isObject(spec)) return [`it must be an object, not ${shown(spec)}`];
  const { id, level, text, source } = spec;
  const isText = (value: unknown) => typeof value === "string" && value.trim() !== "";
  return [
    ...idProblems(id),
    ...(LEVELS.includes(level) ? [] : [`"level" must be "MUST" or "SHOULD", not ${shown(level)}`]),
    ...(isText(text) ? [] : [`"text" must be a non-empty string, not ${shown(text)}`]),
    ...(source === undefined || isText(source) ? [] : [`"source" must be a non-empty string, not ${shown(source)}`]),
  ];
}

function idProblems(id: unknown): string[] {
  if (typeof id !== "string" || !ID.test(id))
    return [`"id" must be uppercase letters and digits separated by hyphens, such as "ACME-REGION", not ${shown(id)}`];
  if (isRequirementId(id)) return [`"${id}" is a built-in requirement: use a prefix of your own, such as "ACME-"`];
  if (RESERVED.has(firstPart(id)))
    return [`the prefix "${firstPart(id)}-" is reserved for built-in requirements: use your own, such as "ACME-"`];
  return [];
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 60);

/** Whether a value was made with `defineRequirement`, possibly that of another copy of this module. */
export function isCustomRequirement(value: unknown): value is CustomRequirement {
  return (
    isObject(value) &&
    value["layer"] === "custom" &&
    value["binds"] === "gateway" &&
    typeof value["area"] === "string" &&
    problemsOf(value).length === 0
  );
}
