import { excerptOf, isObject, type JsonValue } from "../core/index.ts";
import type { Expected, Observed, STATUS_RANGES } from "../record/index.ts";

/** What a value should be: a test, and what it tests for. */
export interface Expectation<T = unknown> {
  readonly expected: Expected;
  readonly test: (value: T) => boolean;
  /** How far a value misses the expectation (`Finding.magnitude`); absent if there is no measure. */
  readonly magnitude?: (value: T) => number | undefined;
  /** What is reported as observed, if not the value. */
  readonly observed?: Observed;
}

/** Makes an expectation of a plain value: equality. */
export function toExpectation<T>(expected: T | Expectation<T>): Expectation<T> {
  return isExpectation<T>(expected)
    ? expected
    : {
        expected: expected === undefined ? { kind: "absent" } : { kind: "value", value: toJson(expected) },
        test: (value) => Object.is(value, expected),
        // If 0 is expected, the count is the measure. A status has no measure.
        magnitude: (value) => (expected === 0 && typeof value === "number" ? Math.abs(value) : undefined),
      };
}

function isExpectation<T>(value: unknown): value is Expectation<T> {
  return isObject(value) && typeof value["test"] === "function" && isObject(value["expected"]);
}

/** An expectation in words, for what the other ones cannot express. */
export function that<T = unknown>(text: string, test: (value: T) => boolean): Expectation<T> {
  return { expected: { kind: "condition", text }, test };
}

/** A condition that was evaluated before, in words. @param facts what is reported as observed; by default the condition itself. */
export function isTrue(text: string, facts?: string): Expectation<boolean> {
  const expectation = that<boolean>(text, (value) => value);
  return facts === undefined ? expectation : { ...expectation, observed: { kind: "facts", text: facts } };
}

/** Of `Response.admitted`. */
export const aReply: Expectation<boolean> = { expected: { kind: "reply" }, test: (value) => value };

export const oneOf = (...allowed: readonly unknown[]): Expectation => ({
  expected: { kind: "one-of", values: allowed.map(toJson) },
  test: (value) => allowed.includes(value),
});

export const absent: Expectation = { expected: { kind: "absent" }, test: (value) => value === undefined };
export const aString: Expectation = that("a string", (value) => typeof value === "string");
export const filledString: Expectation = that(
  "a non-empty string",
  (value) => typeof value === "string" && value.trim() !== "",
);
export const anArray: Expectation = that("an array", Array.isArray);
export const anObject: Expectation = that("an object", isObject);

function statusIn(range: (typeof STATUS_RANGES)[number], test: (status: number) => boolean): Expectation {
  return { expected: { kind: "status", range }, test: (value) => typeof value === "number" && test(value) };
}

export const success: Expectation = statusIn("2xx", (status) => status >= 200 && status < 300);
export const notSuccess: Expectation = {
  expected: { kind: "status", range: "anything but 2xx" },
  test: (value) => !success.test(value),
};
export const callerError: Expectation = statusIn("4xx", (status) => status >= 400 && status < 500);
export const serverError: Expectation = statusIn("5xx", (status) => status >= 500 && status < 600);
export const notServerError: Expectation = {
  expected: { kind: "status", range: "anything but 5xx" },
  test: (value) => !serverError.test(value),
};

export const atLeast = (bound: number): Expectation => ({
  expected: { kind: "at-least", bound },
  test: (value) => typeof value === "number" && value >= bound,
  // 0 counts as 0.5, so that it misses the bound by more than 1 does.
  magnitude: (value) => (typeof value === "number" ? bound / Math.max(0.5, value) : undefined),
});
export const atMost = (bound: number): Expectation => ({
  expected: { kind: "at-most", bound },
  test: (value) => typeof value === "number" && value <= bound,
  magnitude: (value) => (typeof value === "number" && value > 0 ? value / Math.max(1, bound) : undefined),
});

/** Token counts: at least one finite number of zero or more (CHAT-3). */
export const tokenCounts: Expectation = that("an object with at least one count of zero or more", (value) =>
  isObject(value)
    ? Object.values(value).some((count) => typeof count === "number" && Number.isFinite(count) && count >= 0)
    : false,
);

/** Maximum length of an observed value in a record, characters of JSON. */
const MAX_OBSERVED_CHARACTERS = 300;

/** An observed value for the record: the value itself, or the beginning of one that is too long to keep. */
export function toObserved(value: unknown): Observed {
  if (value === undefined) return { kind: "absent" };
  const text = jsonOf(value);
  return text.length <= MAX_OBSERVED_CHARACTERS
    ? { kind: "value", value: JSON.parse(text) as JsonValue }
    : { kind: "excerpt", text: excerptOf(text, MAX_OBSERVED_CHARACTERS), characters: text.length };
}

function toJson(value: unknown): JsonValue {
  return JSON.parse(jsonOf(value)) as JsonValue;
}

/** As JSON; a value that JSON does not have, such as a symbol, as its text. */
const jsonOf = (value: unknown): string => JSON.stringify(value) ?? JSON.stringify(String(value));
