import * as z from "zod";
import type { DenialMessage } from "../../dialects/index.ts";

/** Text of a denial in the contract of a target file. */
export const denialMessage = z
  .union([z.string(), z.strictObject({ pattern: z.string() })])
  .superRefine((message, context) => {
    const problem = messageProblem(message);
    if (problem === undefined) return;
    context.addIssue({ code: "custom", message: problem, path: typeof message === "string" ? [] : ["pattern"] });
  });

/** A message must have a fixed word, or it matches anything: three letters, or two of a script without spaces. */
const FIXED_WORD = /\p{L}{3}|\p{Lo}{2}/u;
/** Nested repetition takes exponential time for a text that almost matches. */
const NESTED_REPETITION = /\((?:[^()\\]|\\.)*(?<!\\)[+*}](?:[^()\\]|\\.)*\)[+*{]/;

/** Why a message cannot identify a denial; `undefined` when it can. */
export function messageProblem(message: DenialMessage): string | undefined {
  if (typeof message === "string") return FIXED_WORD.test(message) ? undefined : "must contain a word of three letters";
  const { pattern } = message;
  try {
    new RegExp(pattern);
  } catch (error) {
    return `is not a valid regular expression: ${(error as Error).message}`;
  }
  if (NESTED_REPETITION.test(pattern))
    return "has a repetition inside a repetition, such as (a+)+, which may take exponential time";
  return alternativesOf(pattern).every((one) => FIXED_WORD.test(one))
    ? undefined
    : "must contain a fixed word of three letters or more that every match includes";
}

/** Placeholder for the variable parts of a pattern. */
const VARIABLE = "\0";
const ESCAPED = /\\./g;
const CHARACTER_CLASS = /\[[^\]]*\]/g;
/** A group without nested groups, with the repetition that makes it optional. */
const GROUP = /\((?:\?(?:[:=!]|<[=!]|<\w+>))?([^()]*)\)([*?]|\{0)?/g;
const OPTIONAL_CHARACTER = /.(?:[*?]|\{0)/gu;

/** The fixed text of each alternative of a pattern. */
function alternativesOf(pattern: string): string[] {
  let fixed = pattern.replace(ESCAPED, VARIABLE).replace(CHARACTER_CLASS, VARIABLE);
  for (let before = ""; before !== fixed; ) {
    before = fixed;
    fixed = fixed.replace(GROUP, (_, inner: string, optional?: string) =>
      optional !== undefined || inner.includes("|") ? VARIABLE : inner,
    );
  }
  return fixed.split("|").map((one) => one.replace(OPTIONAL_CHARACTER, VARIABLE));
}
