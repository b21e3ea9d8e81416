// real-time: a ledger is read until nothing changes any more, or for 90 s
import { describe, expect, it } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { instancesOf, suiteOf } from "../../src/checks/index.ts";
import { MUTATIONS, VARIANTS } from "../../src/reference-gateway/index.ts";
import { CHECKS } from "../../suites/index.ts";
import { DEFECTS, expectKilled, expectSound, isOfLedger } from "../support/kills.ts";

const LEDGER = CHECKS.filter(({ id }) => suiteOf(id) === "ledger").flatMap(instancesOf);
const OF_LEDGER = DEFECTS.filter(([, id]) => isOfLedger(id));
const TIMEOUT = { timeout: 300_000 };

describe.concurrent("every defect of the ledger fails in its check and requirement, and neither fails without it", () => {
  it.each(OF_LEDGER)("%s: %s", TIMEOUT, expectKilled);

  it("the same checks pass on the gateway as it is", TIMEOUT, () => expectSound(OF_LEDGER));

  it("at least twenty defects are declared, and each has a check that detects it", () => {
    const names = MUTATIONS.filter(({ area }) => area === "ledger").map(({ name }) => name);
    expect(names.length).toBeGreaterThanOrEqual(20);
    expect(names.filter((name) => !OF_LEDGER.some(([mutation]) => mutation === name))).toEqual([]);
  });
});

describe.concurrent("ledgers that look different and are correct are not blamed", () => {
  const names = VARIANTS.filter(({ area }) => area === "ledger").map(({ name }) => name);

  it.each(names)("%s", TIMEOUT, async (name) => {
    const { results } = await judgeGateway({ variants: [name], instances: LEDGER, isQuick: true });
    expect(results.map(({ id }) => id)).toEqual(LEDGER.map(({ id }) => id));
    const bad = results.filter(({ status }) => !["pass", "observed", "not-applicable"].includes(status));
    expect(bad.map(({ id, status, message }) => `${id} ${status}: ${message}`)).toEqual([]);
    // A ledger of single requests is judged in everything that it declares.
    expect(results.filter(({ status }) => status === "pass").length).toBeGreaterThanOrEqual(6);
  });
});
