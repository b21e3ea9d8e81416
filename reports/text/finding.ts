import type { Expected, Finding, Observed, ResponseFacts } from "../../src/record/index.ts";
import { describeResponse } from "./response.ts";
import { describeUndecided } from "./undecided.ts";

/** What is expected of a place that may hold any value. */
const PRESENT = "present";

/** What had to hold: `401`, `"a" or "b"`, `at most 64`, `a non-empty string`. */
export function describeExpected(expected: Expected | undefined): string {
  switch (expected?.kind) {
    case undefined:
      return "something else";
    case "value":
      return JSON.stringify(expected.value);
    case "one-of":
      return expected.values.map((value) => JSON.stringify(value)).join(" or ");
    case "absent":
      return "nothing";
    case "status":
      return expected.range;
    case "reply":
      return "a complete reply without an error";
    case "at-least":
      return `at least ${expected.bound}`;
    case "at-most":
      return `at most ${expected.bound}`;
    case "condition":
      return expected.text;
  }
}

/** What was there: `403`, `"b"`, `nothing`, `3 of 40 denied`. */
export function describeObserved(observed: Observed): string {
  switch (observed.kind) {
    case "absent":
      return "nothing";
    case "value":
      return JSON.stringify(observed.value);
    case "excerpt":
      return `${observed.text}… (${observed.characters} characters)`;
    case "facts":
      return observed.text;
  }
}

/** What was observed and, if undecided, why. Omits what was expected. */
export function describeFacts({ observed, reason }: Finding): string {
  if (reason === undefined) return describeObserved(observed);
  const why = describeUndecided(reason);
  return observed.kind === "absent" ? why : `${describeObserved(observed)}, but ${why}`;
}

/** What was compared, if the reader cannot infer it: the stated subject, or the name of a finding that is not a requirement. */
function subjectOf({ subject, requirements, name }: Finding): string | undefined {
  return subject ?? (requirements.includes(name) ? undefined : name);
}

/**
 * A broken or undecided finding as a sentence: `expected 401, got 403 invalid_api_key`, `concurrency.exceeded: expected at most
 * 64, got 65`. For something that must not be the case, the subject says it.
 */
export function describeFinding(finding: Finding): string {
  const { expected, observed, pointer, response, reason } = finding;
  const subject = subjectOf(finding);
  if (reason !== undefined) return `${subject === undefined ? "" : `${subject}: `}${describeFacts(finding)}`;
  const isAboutResponse = pointer === "status" || pointer === "ending" || expected?.kind === "reply";
  if (subject !== undefined && pointer === undefined && observed.kind === "value" && !isAboutResponse) {
    const required = expected?.kind === "value" ? expected.value : undefined;
    if (observed.value === true && required === false) return subject;
    if (observed.value === false && required !== true) return `${subject}: expected ${describeExpected(expected)}`;
  }
  const about = subject === undefined ? "" : `${subject}: `;
  if (isAboutResponse && response !== undefined)
    return `${about}expected ${describeExpected(expected)}, got ${describeResponse(response)}`;
  const note = responseNote(response);
  if (pointer === undefined || pointer === "" || pointer === "status")
    return `${about}expected ${describeExpected(expected)}, got ${describeObserved(observed)}${note}`;
  if (observed.kind === "absent") return `${about}${describeMissing(pointer, [expected])}${note}`;
  return `${about}${pointer}: expected ${describeExpected(expected)}, got ${describeObserved(observed)}${note}`;
}

/** Maximum number of expectations that a sentence lists. */
const MAX_LISTED = 3;

/** That a place of the response is empty: `Retry-After is missing`, `/usage is missing: expected an object`. */
export function describeMissing(pointer: string, expected: readonly (Expected | undefined)[]): string {
  const all = [...new Set(expected.map(describeExpected))].filter((text) => text !== PRESENT);
  if (all.length === 0) return `${pointer} is missing`;
  const more = all.length > MAX_LISTED ? ` and ${all.length - MAX_LISTED} more` : "";
  return `${pointer} is missing: expected ${all.slice(0, MAX_LISTED).join(", ")}${more}`;
}

/** The response, if it is not simply a reply. */
function responseNote(response: ResponseFacts | undefined): string {
  if (response === undefined) return "";
  const { status = 0, ending, isRefusedLate } = response;
  const isReply = status >= 200 && status < 300 && ending === undefined && isRefusedLate !== true;
  return isReply ? "" : ` (response: ${describeResponse(response)})`;
}
