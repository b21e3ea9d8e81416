// real-time: checks fill the limits of a minute and wait for Retry-After
import { describe, expect, it } from "vitest";
import { suiteOf } from "../../src/checks/index.ts";
import { CHECKS } from "../../suites/index.ts";
import { DEFECTS, expectKilled, expectSound, isOfLedger, isOfReplicas } from "../support/kills.ts";

/** Those of replicas and of the ledger take minutes: `replicas.test.ts` and `ledger.test.ts`. */
const OF_ONE_GATEWAY = DEFECTS.filter(([, id]) => !isOfReplicas(id) && !isOfLedger(id));

describe.concurrent("every defect fails in its check and requirement, and neither fails without it", () => {
  it.each(OF_ONE_GATEWAY)("%s: %s", expectKilled);

  it("the same checks pass on the gateway as it is", () => expectSound(OF_ONE_GATEWAY));
});

/** Suites that need rate windows or a whole run's traffic; other tests and `npm run verify mutations` cover them. */
const COVERED_ELSEWHERE = ["retry-after", "security", "token-limits"];

it("every other suite has a check that a defect fails, and no defect is listed twice", () => {
  const broken = new Set(DEFECTS.map(([, id]) => suiteOf(id)));
  const unbroken = new Set(CHECKS.map(({ id }) => suiteOf(id)).filter((suite) => !broken.has(suite)));
  expect([...unbroken].sort()).toEqual(COVERED_ELSEWHERE);
  expect(DEFECTS.length).toBeGreaterThanOrEqual(40);
  const rows = DEFECTS.map(([mutation, id, , requirement]) => `${mutation} ${id} ${requirement}`);
  expect(rows.filter((row, at) => rows.indexOf(row) !== at)).toEqual([]);
});
