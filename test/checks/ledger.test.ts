// real-time: a ledger is read until nothing changes any more, or for 90 s
import { describe, expect, it } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { instancesOf, suiteOf } from "../../src/checks/index.ts";
import { MUTATIONS, VARIANTS } from "../../src/reference-gateway/index.ts";
import type { Target } from "../../src/target/index.ts";
import { CHECKS } from "../../suites/index.ts";
import { httpServer } from "../support/judge.ts";
import { DEFECTS, expectKilled, expectSound, isOfLedger } from "../support/kills.ts";

const LEDGER = CHECKS.filter(({ id }) => suiteOf(id) === "ledger").flatMap(instancesOf);
const OF_LEDGER = DEFECTS.filter(([, id]) => isOfLedger(id));
const TOTALS = { requests: 0, inputTokens: 0, outputTokens: 0, costMicroUsd: 0 };
const TIMEOUT = { timeout: 300_000 };

describe.concurrent("every defect of the ledger fails in its check and requirement, and neither fails without it", () => {
  it.each(OF_LEDGER)("%s: %s", TIMEOUT, expectKilled);

  it("the same checks pass on the gateway as it is", TIMEOUT, () => expectSound(OF_LEDGER));

  it("nothing that they do to its providers is held against the gateway", TIMEOUT, () =>
    expectSound([...OF_LEDGER.filter(([, id]) => id === "ledger.charged"), ["", "robustness.framing", "", []]]),
  );

  it("at least twenty defects are declared, and each has a check that detects it", () => {
    const names = MUTATIONS.filter(({ area }) => area === "ledger").map(({ name }) => name);
    expect(names.length).toBeGreaterThanOrEqual(20);
    expect(names.filter((name) => !OF_LEDGER.some(([mutation]) => mutation === name))).toEqual([]);
  });
});

const row = { requestId: "req_0", at: new Date().toISOString(), key: "of-another", inputTokens: 5, outputTokens: 5 };
const whole = { ...row, costMicroUsd: 5 };

describe.concurrent("a ledger that cannot be used is never a pass", () => {
  it.each<[what: string, body: string, problem: RegExp]>([
    ["a web page", "<html><title>Sign in</title></html>", /is not JSON/],
    ["nothing", "", /is empty/],
    ["another document", '{"data":[]}', /\/rows of its response is missing/],
    ["rows without cost", JSON.stringify({ rows: [row], totals: TOTALS }), /row 1 has no cost/],
    ["no rows", JSON.stringify({ rows: [], next: null, totals: TOTALS }), /no ledger row matches a request/],
    [
      "rows of other keys",
      JSON.stringify({ rows: [whole, whole], next: null, totals: { ...TOTALS, requests: 2 } }),
      /no ledger row matches a request/,
    ],
  ])("%s", TIMEOUT, async (_what, body, problem) => {
    await using server = await httpServer((_request, _body, response) => response.end(body));
    const describeLedger = (target: Target): Target => {
      const { ledger } = target;
      if (ledger === undefined) throw new Error("the embedded gateway has no ledger");
      const from = { kind: "http", url: `${server.baseUrl}/ledger?after={next}`, token: undefined } as const;
      return { ...target, ledger: { ...ledger, from } };
    };
    const { results } = await judgeGateway({ instances: LEDGER, isQuick: true, describe: describeLedger });
    const status = Object.fromEntries(results.map((result) => [result.id, result.status]));
    expect(Object.values(status).filter((one) => one === "pass" || one === "observed")).toEqual([]);
    expect(status["ledger.charged"]).toBe("blocked");
    expect(results.find(({ id }) => id === "ledger.charged")?.message).toMatch(problem);
    expect(Object.values(status).filter((one) => one === "blocked").length).toBeGreaterThanOrEqual(8);
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
