import { expect, test } from "vitest";
import { LoadGuard } from "../../../src/load/send/load-guard.ts";
import type { RequestOutcome } from "../../../src/load/send/outcome.ts";

const RULE = { failedShare: 0.9, requests: 10 };
const ADMITTED: RequestOutcome = { outcome: "admitted", what: "" };
const FAILED: RequestOutcome = { outcome: "failed", what: "503" };
const RATE: RequestOutcome = { outcome: "denied", what: "rate_limit_exceeded" };
const KEY: RequestOutcome = { outcome: "denied", what: "invalid_api_key" };

function after(
  rule: typeof RULE | undefined,
  ...result: readonly (readonly [times: number, status: number, what: RequestOutcome])[]
) {
  const guard = new LoadGuard({ budget: { requests: Number.POSITIVE_INFINITY }, circuit: rule });
  for (const [times, status, what] of result)
    for (let n = 0; n < times; n++) guard.note({ status, outputTokens: 0 }, what);
  return guard.stoppedEarly?.why;
}

test.each<[string, string | undefined, RegExp | undefined]>([
  ["a target that serves", after(RULE, [100, 200, ADMITTED]), undefined],
  ["one that denies by its limits", after(RULE, [5, 200, ADMITTED], [100, 429, RATE]), undefined],
  [
    "one that fails half of it",
    after(
      RULE,
      ...Array.from({ length: 50 }, () => [1, 503, FAILED] as const).flatMap((failed) => [
        failed,
        [1, 200, ADMITTED] as const,
      ]),
    ),
    undefined,
  ],
  [
    "one that collapses",
    after(RULE, [50, 200, ADMITTED], [10, 503, FAILED]),
    /9 of the last 10 requests failed, last with 503/,
  ],
  [
    "one that was never there",
    after(RULE, [10, 0, { outcome: "failed", what: "unreachable" }]),
    /last with unreachable/,
  ],
  ["with a rule that is off", after(undefined, [100, 503, FAILED]), undefined],
  [
    "a key that is refused from the start",
    after(RULE, [20, 401, KEY]),
    /the gateway rejected 20 requests and admitted none \(last: 401 invalid_api_key\)/,
  ],
  ["also with the rule off", after(undefined, [20, 402, KEY]), /402/],
  ["a model that is unknown", after(RULE, [20, 404, { outcome: "denied", what: "404" }]), /last: 404\)/],
  ["limits that admit nothing", after(RULE, [500, 429, RATE]), /the gateway denied 500 requests and admitted none/],
  ["a key that is refused after it was served", after(RULE, [1, 200, ADMITTED], [50, 402, KEY]), undefined],
  ["what we left ourselves", after(RULE, [50, 0, { outcome: "failed", what: "aborted" }]), undefined],
])("the circuit breaker: %s", (_what, why, expected) => {
  if (expected === undefined) expect(why).toBeUndefined();
  else expect(why).toMatch(expected);
});

test("the request budget ends the run and does not count as an early stop", () => {
  const guard = new LoadGuard({ budget: { requests: 3 }, circuit: RULE });
  expect([1, 2, 3, 4, 5].map(() => guard.take())).toEqual([true, true, true, false, false]);
  expect(guard.signal.aborted).toBe(true);
  expect(guard.stop?.kind).toBe("requests");
  expect(guard.stoppedEarly).toBeUndefined();
});

test("the budget of output tokens stops the run early", () => {
  const guard = new LoadGuard({ budget: { requests: 100, outputTokens: 50 }, circuit: RULE });
  guard.note({ status: 200, outputTokens: 50 }, ADMITTED);
  expect(guard.take()).toBe(true);
  guard.note({ status: 200, outputTokens: 1 }, ADMITTED);
  expect(guard.take()).toBe(false);
  expect(guard.stoppedEarly).toEqual({ kind: "outputTokens", why: "the budget of 50 output tokens is used up" });
});
