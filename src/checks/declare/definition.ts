import { isObject, nearestOf } from "../../core/index.ts";
import { isCustomRequirement, REQUIREMENTS } from "../../requirements/index.ts";
import { NEEDS } from "./need.ts";

type Fields = Readonly<Record<string, unknown>>;

const ID = /^[^\s.]+\.\S+$/;
const IDS = REQUIREMENTS.map(({ id }) => id);
const DIALECTS = ["chat", "messages"];
const MODES = ["non-streaming", "streaming"];

/**
 * Compares the definition of a check with what its type says: suites in JavaScript, and TypeScript that was not type-checked, reach
 * this point.
 *
 * @throws TypeError that lists every problem. Its stack leads to the definition.
 */
export function assertDefinition(spec: unknown, kind: "check" | "invariant"): void {
  if (!isObject(spec)) throw new TypeError(`the definition of a check must be an object, not ${shown(spec)}`);
  const problems = [
    ...unknownFields(spec, kind === "check" ? ("scenario" in spec ? OF_SCENARIO_CHECKS : OF_CHECKS) : OF_INVARIANTS),
    ...declarationProblems(spec),
    ...(kind === "check" ? sendingProblems(spec) : []),
  ];
  if (problems.length === 0) return;
  const name = typeof spec["id"] === "string" ? `the ${kind} "${spec["id"]}"` : `the ${kind}`;
  throw new TypeError(`${name} is not defined correctly: ${problems.join("; ")}`);
}

const OF_ALL = ["id", "title", "covers", "explains", "judge"];
const OF_SCENARIO_CHECKS = [...OF_ALL, "scenario", "basis", "needs"];
const OF_CHECKS = [...OF_ALL, "needs", "across", "dialect", "schedule", "cost", "reaches", "basis", "run"];
const OF_INVARIANTS = [...OF_ALL, "about", "dialect", "judgesStop", "countsRequests"];

/** A misspelt optional field would be ignored. */
function unknownFields(fields: Fields, known: readonly string[]): string[] {
  return Object.keys(fields)
    .filter((name) => !known.includes(name))
    .map((name) => `unknown field "${name}"${suggestion(name, known)}`);
}

function declarationProblems(fields: Fields): string[] {
  const { id, covers } = fields;
  return [
    ...(typeof id === "string" && ID.test(id) ? [] : [expected('"id" must be "suite.name"', id)]),
    ...["title", "explains"].flatMap((name) => textProblem(fields, name)),
    ...(Array.isArray(covers) && covers.length > 0
      ? listProblems(
          "covers",
          covers.filter((one) => !isCustomRequirement(one)),
          IDS,
        )
      : [expected('"covers" must list at least one requirement', covers)]),
    ...functionProblem(fields, "judge"),
  ];
}

function sendingProblems(fields: Fields): string[] {
  const { scenario, across, needs = [] } = fields;
  if (scenario !== undefined) {
    return isObject(scenario) ? [] : [expected('"scenario" must come from defineScenario', scenario)];
  }
  const { dialect = [], mode = [] } = isObject(across) ? across : {};
  return [
    ...functionProblem(fields, "run"),
    ...costProblem(fields["cost"]),
    ...listProblems("needs", needs, NEEDS),
    ...listProblems("across.dialect", dialect, DIALECTS),
    ...listProblems("across.mode", mode, MODES),
  ];
}

function textProblem(fields: Fields, name: string): string[] {
  return typeof fields[name] === "string" ? [] : [expected(`"${name}" must be a string`, fields[name])];
}

function functionProblem(fields: Fields, name: string): string[] {
  return typeof fields[name] === "function" ? [] : [expected(`"${name}" must be a function`, fields[name])];
}

function costProblem(cost: unknown): string[] {
  const requests = isObject(cost) ? cost["requests"] : undefined;
  if (typeof requests === "function" || (typeof requests === "number" && requests >= 0)) return [];
  return [expected('"cost" must be { requests: a number, or a function of the target }', cost)];
}

/** What is wrong with a list whose elements are known names. */
function listProblems(name: string, values: unknown, known: readonly string[]): string[] {
  if (!Array.isArray(values)) return [expected(`"${name}" must be a list`, values)];
  return values
    .filter((value) => !known.includes(value))
    .map((value) => `"${name}" contains ${shown(value)}, which is not known${suggestion(String(value), known)}`);
}

function suggestion(value: string, known: readonly string[]): string {
  if (known.length <= MAX_LISTED) return `: use ${LIST.format(known.map((one) => `"${one}"`))}`;
  const nearest = nearestOf(value, known);
  return nearest === undefined ? "" : ` (did you mean "${nearest}"?)`;
}

/** Maximum number of known values that a message lists; if there are more, it suggests only the nearest. */
const MAX_LISTED = 4;
const LIST = new Intl.ListFormat("en-GB", { type: "disjunction" });

const expected = (rule: string, value: unknown): string => `${rule}, not ${shown(value)}`;

function shown(value: unknown): string {
  if (typeof value === "function") return "a function";
  return (JSON.stringify(value) ?? "undefined").slice(0, 60);
}
