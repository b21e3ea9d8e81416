import { expect, test } from "vitest";
import { select } from "../../../src/checks/index.ts";
import { planRun } from "../../../src/run/conformance/plan-run.ts";
import { parseTarget } from "../../../src/target/index.ts";
import { CHECKS } from "../../../suites/index.ts";

const target = parseTarget(
  "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:K }\ntiers: { starter: { key: env:K, limits: starter } }\n",
  "t.yaml",
  { K: "sk-secret-12345" },
);

test("the plan of a run that loads the tiers during the checks takes as long as the longer of the two", () => {
  const plan = (isConcurrent: boolean) =>
    planRun(target, {
      instances: select(CHECKS, { suites: ["auth", "limits"], only: [] }),
      ...{ rounds: 1, canCreateKeys: false, isQuick: false, isConcurrent, tiers: true, load: [] },
    });
  const durations = plan(false).sending.parts.map(({ durationS = 0 }) => durationS);
  expect(durations.length).toBe(2);
  expect(Math.min(...durations)).toBeGreaterThan(10);
  expect(plan(false).sending.durationS).toBe((durations[0] ?? 0) + (durations[1] ?? 0));
  expect(plan(true).sending.durationS).toBe(Math.max(...durations));
  expect(plan(true).sending.requests).toBe(plan(false).sending.requests);
});
