import { describe, expect, test } from "vitest";
import { retryAfterWaitMs } from "../../suites/k6/retry-after.ts";
import { decideRetry, type RetryInput, retryOf } from "../../suites/k6/retry-rules.ts";

const OPTIONS = { maxAttempts: 6, baseMs: 500, maxBackoffMs: 30_000, longestRetryAfterMs: 120_000, graceMs: 30 };
const denied = (more: Partial<RetryInput>): RetryInput => ({
  retry: "retry-after",
  reason: "rate_limit_exceeded",
  retryAfterMs: 2_000,
  attempts: 1,
  ...more,
});

describe("how a response may be retried (specification, section 7)", () => {
  test.each([
    ["rule 1: a rate denial passes by waiting", 429, "rate_limit_exceeded", "retry-after"],
    ["rule 1: so does one for concurrency", 429, "concurrency_limit_exceeded", "retry-after"],
    ["a 429 that names nothing is a rate limit", 429, "", "retry-after"],
    ["rule 2: a lifetime budget does not come back", 429, "budget_exhausted", "never"],
    ["rule 2: a spend cap", 402, "quota_exceeded", "never"],
    ["rule 2: exhausted credits", 402, "insufficient_credits", "never"],
    ["rule 2: a bad key", 401, "invalid_api_key", "never"],
    ["rule 2: a revoked key", 401, "key_revoked", "never"],
    ["an unknown model stays unknown", 404, "model_not_found", "never"],
    ["a failure of the gateway", 503, "", "backoff"],
    ["no response at all", 0, "", "backoff"],
    ["served", 200, "", "served"],
  ])("%s", (_, status, reason, retry) => {
    expect(retryOf(status, reason, true, false)).toBe(retry);
  });

  test("rule 3: a timeout leaves the outcome open and is not repeated", () => {
    expect(retryOf(0, "", false, true)).toBe("uncertain");
    expect(decideRetry(denied({ retry: "uncertain" }), 0, OPTIONS)).toEqual({ kind: "uncertain" });
  });

  test("rule 4: a partial stream may be requested again, as a new generation", () => {
    expect(retryOf(200, "", false, false)).toBe("backoff");
  });
});

describe("how long a client waits", () => {
  test("Retry-After is complied with to the millisecond, whatever the jitter", () => {
    for (const random of [0, 0.5, 0.999])
      expect(decideRetry(denied({}), random, OPTIONS)).toEqual({ kind: "wait", ms: 2_000, fromRetryAfter: true });
  });

  test("without a usable Retry-After the wait doubles, with jitter in its upper half, up to a bound", () => {
    const waits = [1, 2, 3, 5].map((attempts) =>
      decideRetry(denied({ retryAfterMs: undefined, attempts }), 0, OPTIONS),
    );
    expect(waits.map((wait) => (wait.kind === "wait" ? wait.ms : 0))).toEqual([250, 500, 1_000, 4_000]);
  });

  test("after a concurrency denial it waits longer than Retry-After, never less: fewer are then in flight", () => {
    const wait = decideRetry(denied({ reason: "concurrency_limit_exceeded" }), 0, OPTIONS);
    expect(wait).toEqual({ kind: "wait", ms: 2_250, fromRetryAfter: true });
  });

  test("attempts and Retry-After have bounds", () => {
    expect(decideRetry(denied({ attempts: 6 }), 0, OPTIONS)).toEqual({ kind: "stop" });
    expect(decideRetry(denied({ retryAfterMs: 120_001 }), 0, OPTIONS)).toEqual({ kind: "stop" });
  });

  const DATE = "Sat, 21 Nov 2026 12:00:00 GMT";
  test.each([
    ["whole seconds", "7", "", 7_000],
    ["a date, by the gateway's own clock", "Sat, 21 Nov 2026 12:00:05 GMT", DATE, 5_000],
    ["a date in an obsolete form", "Saturday, 21-Nov-26 12:00:05 GMT", DATE, 5_000],
    ["a date that has passed", "Sat, 21 Nov 2026 11:59:00 GMT", DATE, 0],
    ["a negative number", "-3", "", undefined],
    ["a fraction", "1.5", "", undefined],
    ["words", "soon", "", undefined],
  ])("Retry-After: %s", (_, value, date, ms) => {
    expect(retryAfterWaitMs(value, { date, arrivedAtMs: 0 })).toBe(ms);
  });
});
