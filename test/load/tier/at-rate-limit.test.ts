import { expect, test } from "vitest";
import type { Observation } from "../../../src/judging/index.ts";
import { judgeAtTheLimit } from "../../../src/load/tier/at-rate-limit.ts";
import { sent } from "../support/observations.ts";

const RPM = 60;

const denied = (atS: number, more: Partial<Observation> = {}) =>
  sent(atS, { outcome: "denied", what: "rate_limit_exceeded", status: 429, ...more });
const outcome = (facts: readonly Observation[]) =>
  judgeAtTheLimit(facts, [sent(0, { phase: "warm-up" }), ...facts], { rpm: RPM, inFlight: 16 }).find(
    ({ name }) => name === "rate.denied-below-limit",
  )?.outcome;

test("a denial below the limit in the run's first minute may be caused by earlier traffic", () => {
  expect(outcome([sent(10), denied(12), sent(14)])).toBe("undecided");
  // In the repetition a minute later all of it was served: nothing is wrong.
  const again = [90, 92, 94].map((atS) => sent(atS, { role: "even-again" }));
  expect(outcome([sent(10), denied(12), ...again])).toBe("met");
});

test("a denial below the limit after that is the gateway's", () => {
  expect(outcome([sent(10), denied(12), sent(90, { role: "even-again" }), denied(92, { role: "even-again" })])).toBe(
    "broken",
  );
  expect(outcome([sent(70), denied(72)])).toBe("broken");
  expect(outcome([sent(70), sent(72)])).toBe("met");
});

test("what our traffic of the last minute explains is not a failure", () => {
  const minute = Array.from({ length: RPM }, (_, index) => sent(70 + index / 2));
  expect(outcome([...minute, denied(101)])).toBe("met");
});
