import { expect, test } from "vitest";
import { Circuit } from "../../src/load/circuit.ts";
import type { Came } from "../../src/load/outcome.ts";

const RULE = { failedShare: 0.9, requests: 10 };
const ADMITTED: Came = { outcome: "admitted", what: "" };
const FAILED: Came = { outcome: "failed", what: "503" };
const RATE: Came = { outcome: "denied", what: "rate_limit_exceeded" };
const KEY: Came = { outcome: "denied", what: "invalid_api_key" };

function after(
  rule: typeof RULE | undefined,
  ...came: readonly (readonly [times: number, status: number, what: Came])[]
) {
  const circuit = new Circuit(rule);
  for (const [times, status, what] of came) for (let n = 0; n < times; n++) circuit.note({ status }, what);
  return circuit.why;
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
    /each of the first 20 requests was refused \(401 invalid_api_key\)/,
  ],
  ["also with the rule off", after(undefined, [20, 402, KEY]), /402/],
  ["a key that is refused after it was served", after(RULE, [1, 200, ADMITTED], [50, 402, KEY]), undefined],
  ["what we left ourselves", after(RULE, [50, 0, { outcome: "failed", what: "aborted" }]), undefined],
])("the circuit: %s", (_what, why, expected) => {
  if (expected === undefined) expect(why).toBeUndefined();
  else expect(why).toMatch(expected);
});
