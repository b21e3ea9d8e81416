import { describe, expect, test } from "vitest";
import { classify, readError } from "../../src/dialects/index.ts";

const facts = { reason: undefined, complete: true };

describe("status decides first, the named reason refines it (ERR-STATUS-1)", () => {
  test.each<[status: number | undefined, reason: string | undefined, kind: string, retry: string | undefined]>([
    [200, undefined, "admitted", undefined],
    [200, "rate_limit_exceeded", "admitted", undefined],
    [401, "invalid_api_key", "denial", "never"],
    [401, "key_revoked", "denial", "never"],
    [402, "insufficient_credits", "denial", "never"],
    [402, "quota_exceeded", "denial", "never"],
    [404, "model_not_found", "denial", "never"],
    [404, undefined, "denial", "never"],
    [429, "rate_limit_exceeded", "denial", "retry-after"],
    [429, "concurrency_limit_exceeded", "denial", "retry-after"],
    [429, "budget_exhausted", "denial", "never"],
    [429, undefined, "denial", "retry-after"],
    [429, "something_new", "denial", "never"],
    [402, "rate_limit_exceeded", "denial", "never"],
    [500, "quota_exceeded", "failure", "backoff"],
    [529, undefined, "failure", "backoff"],
    [302, undefined, "failure", "never"],
    [400, "invalid_request", "denial", "never"],
    [299, undefined, "admitted", undefined],
    [300, undefined, "failure", "never"],
    [199, undefined, "failure", "never"],
    [undefined, undefined, "failure", "backoff"],
  ])("%s %s → %s, %s", (status, reason, kind, retry) => {
    const outcome = classify({ ...facts, status, reason });
    expect(outcome.kind).toBe(kind);
    expect("retry" in outcome ? outcome.retry : undefined).toBe(retry);
  });

  test("a timeout is uncertain, whatever preceded it; a cut 200 is a failure (RETRY-7, RETRY-8)", () => {
    expect(classify({ ...facts, status: 200, complete: false, timedOut: true })).toMatchObject({
      kind: "failure",
      retry: "uncertain",
    });
    expect(classify({ ...facts, status: 200, complete: false })).toMatchObject({ kind: "failure", retry: "backoff" });
  });
});

describe("bodies change nothing (ERR-BODY-4, ERR-BODY-5)", () => {
  test.each([
    '{"error":{"code":402}}',
    '{"error":{"code":"rate_limit_exceeded"}}',
    '{"error":{"code":null}}',
    '{"error":{}}',
    "<html>429</html>",
    "",
    "[]",
    `${'{"error":'.repeat(2_000)}`,
  ])("%#", (body) => {
    expect(() => readError(body)).not.toThrow();
    expect(classify({ ...facts, status: 429, reason: "budget_exhausted" })).toMatchObject({ retry: "never" });
  });
});
