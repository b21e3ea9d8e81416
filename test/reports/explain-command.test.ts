import { expect, test } from "vitest";
import { explainOf } from "../../reports/evidence/reproduce.ts";
import type { CheckResult } from "../../src/record/index.ts";

const check = (given: Partial<CheckResult>) =>
  ({ suite: "load", check: "load.thresholds", violated: [], requirements: [], ...given }) as unknown as CheckResult;

test.each([
  ["a check has an explanation", { suite: "auth", check: "auth.bearer" }, "gauntlet explain auth.bearer"],
  [
    "a load check by the requirement it broke",
    { violated: ["LIMIT-2"], requirements: ["LIMIT-1"] },
    "gauntlet explain LIMIT-2",
  ],
  ["or that it covers", { requirements: ["LIMIT-1"] }, "gauntlet explain LIMIT-1"],
  ["and one about no requirement by no command", {}, undefined],
])("%s", (_what, given, command) => {
  expect(explainOf(check(given), {})).toBe(command);
});

test("a check of your own suite needs its file", () => {
  const own = check({ suite: "acme", check: "acme.temperature" });
  expect(explainOf(own, { arguments: ["acme", "--suite", "own suite.ts"] })).toBe(
    "gauntlet explain acme.temperature --suite 'own suite.ts'",
  );
});
