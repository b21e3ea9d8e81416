import { isObject } from "../core/index.ts";

/** What a value should be: a test, and its description. */
export interface Expectation<T = unknown> {
  readonly description: string;
  readonly test: (value: T) => boolean;
  /** How far a value misses the expectation (`Finding.magnitude`); absent if there is no measure. */
  readonly magnitude?: (value: T) => number | undefined;
}

/** Makes an expectation of a plain value: equality. */
export function toExpectation<T>(expected: T | Expectation<T>): Expectation<T> {
  return isExpectation<T>(expected)
    ? expected
    : {
        description: show(expected),
        test: (value) => Object.is(value, expected),
        // If 0 is expected, the count is the measure. A status has no measure.
        magnitude: (value) => (expected === 0 && typeof value === "number" ? Math.abs(value) : undefined),
      };
}

function isExpectation<T>(value: unknown): value is Expectation<T> {
  return isObject(value) && typeof value["test"] === "function" && typeof value["description"] === "string";
}

export function that<T = unknown>(description: string, test: (value: T) => boolean): Expectation<T> {
  return { description, test };
}

/** A condition that was evaluated before, with its description. */
export const isTrue = (description: string): Expectation<boolean> => that(description, (value) => value);

/** Of `Response.admitted`. */
export const aReply: Expectation<boolean> = isTrue("a complete reply without an error");

export const oneOf = (...allowed: readonly unknown[]): Expectation =>
  that(allowed.map(show).join(" or "), (value) => allowed.includes(value));

export const absent: Expectation = that("absent", (value) => value === undefined);
export const aString: Expectation = that("a string", (value) => typeof value === "string");
export const filledString: Expectation = that(
  "a non-empty string",
  (value) => typeof value === "string" && value.trim() !== "",
);
export const anArray: Expectation = that("an array", Array.isArray);
export const anObject: Expectation = that("an object", isObject);
export const success: Expectation = that("2xx", (value) => typeof value === "number" && value >= 200 && value < 300);
export const notSuccess: Expectation = that("anything but 2xx", (value) => !success.test(value));
export const callerError: Expectation = that(
  "4xx",
  (value) => typeof value === "number" && value >= 400 && value < 500,
);
export const serverError: Expectation = that(
  "5xx",
  (value) => typeof value === "number" && value >= 500 && value < 600,
);

export const atLeast = (least: number): Expectation => ({
  ...that(`at least ${least}`, (value) => typeof value === "number" && value >= least),
  // 0 counts as 0.5, so that it misses the bound by more than 1 does.
  magnitude: (value) => (typeof value === "number" ? least / Math.max(0.5, value) : undefined),
});
export const atMost = (most: number): Expectation => ({
  ...that(`at most ${most}`, (value) => typeof value === "number" && value <= most),
  magnitude: (value) => (typeof value === "number" && value > 0 ? value / Math.max(1, most) : undefined),
});

/** Token counts: at least one finite number of zero or more (CHAT-3). */
export const tokenCounts: Expectation = that("an object with at least one count of zero or more", (value) =>
  isObject(value)
    ? Object.values(value).some((count) => typeof count === "number" && Number.isFinite(count) && count >= 0)
    : false,
);

const MAX_SHOWN_CHARACTERS = 300;

/** A value as text for a report: JSON, truncated to a readable length. */
export function show(value: unknown): string {
  if (value === undefined) return "absent";
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= MAX_SHOWN_CHARACTERS
    ? text
    : `${text.slice(0, MAX_SHOWN_CHARACTERS)}… (${text.length} characters)`;
}
