import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { compareWith, type Expected, readExpected } from "../../scripts/verify/gateways/expected.ts";
import { CUTS, PROVIDER_OPTIONS } from "../../scripts/verify/gateways/provider.ts";
import type { CheckResult } from "../../src/record/index.ts";
import { CHECKS } from "../../suites/index.ts";

const EXAMPLES = join(ROOT, "examples");
const expectations = readdirSync(EXAMPLES, { recursive: true, encoding: "utf8" }).filter((path) =>
  /\/expected(-\w+)?\.yaml$/.test(path),
);
const EVENTS = ["rolling-restart", "kill", "counter-store-outage"].map((workload) => `load.${workload}.events`);
const known = new Set<string>([...CHECKS.map(({ id }) => id), ...EVENTS]);

test.each(expectations)("the expectations in %s name existing checks, each with a reason", (path) => {
  const { fail, warn } = readExpected(join(EXAMPLES, path));
  expect(fail.length).toBeGreaterThan(0);
  expect([...fail, ...warn].filter(({ check }) => !known.has(check))).toEqual([]);
  expect([...fail, ...warn].filter(({ why }) => !/^[A-Z0-9`].+[.]$/s.test(why))).toEqual([]);
});

test("the examples start their provider as the verification does", () => {
  const text = readFileSync(join(EXAMPLES, "README.md"), "utf8").replaceAll(/\s*\\\n\s*/g, " ");
  expect(text).toContain(`${PROVIDER_OPTIONS} ${CUTS.end}\n`);
  expect(text).toContain(`\`${CUTS.connection}\``);
});

describe("a run compared with what is expected", () => {
  const result = (id: string, status: string) =>
    ({ id, check: id.replace(/\[.*/, ""), status, message: "m" }) as CheckResult;
  const expected: Expected = {
    fail: [
      { check: "a.b", cases: ["chat"], why: "" },
      { check: "c.d", why: "" },
      { check: "e.f", why: "", sometimes: "rarely" },
    ],
    warn: [{ check: "a.b", cases: ["messages"], why: "" }],
    unavailable: [{ reason: "no_database", why: "" }],
  };
  const good = [
    result("a.b[chat]", "fail"),
    result("a.b[messages]", "warn"),
    result("c.d[one]", "fail"),
    result("c.d[two]", "blocked"),
    result("e.f", "pass"),
  ];

  test("an expectation that names findings covers no other finding", () => {
    const findings = (...names: string[]) => names.map((name) => ({ name, outcome: "broken" }));
    const judged = (...names: string[]) => [{ ...result("c.d", "fail"), findings: findings(...names) } as CheckResult];
    const only: Expected = { fail: [{ check: "c.d", findings: ["x"], why: "" }], warn: [], unavailable: [] };
    expect(compareWith(only, judged("x")).problems).toEqual([]);
    const event = { ...result("load.kill.events", "fail"), check: "load.events" };
    expect(compareWith({ ...only, fail: [{ check: "load.kill.events", why: "" }] }, [event]).problems).toEqual([]);
    expect(compareWith(only, judged("x", "y")).problems).toEqual(["c.d: fail, which is not expected: m"]);
  });

  test.each([
    ["everything is as expected", [], []],
    ["what shows sometimes shows", [result("e.f", "fail")], []],
    ["another case fails", [result("a.b[models]", "fail")], ["a.b[models]: fail, which is not expected: m"]],
    [
      "a warning became a failure",
      [result("a.b[messages]", "fail")],
      ["a.b[messages]: fail, which is not expected: m", "a.b[messages]: expected to warn, and is fail: m"],
    ],
    ["a failure is gone", [result("c.d[one]", "pass")], ["c.d[one]: expected to fail, and is pass: m"]],
    [
      "a case was not judged",
      [result("a.b[chat]", "inconclusive")],
      ["a.b[chat]: expected to fail, and is inconclusive: m"],
    ],
    ["nothing was judged", [result("c.d[one]", "blocked")], ["c.d: expected to fail, and was not judged"]],
    ["a harness error", [result("x.y", "harness-error")], ["x.y: harness error: m"]],
  ])("%s", (_what, changed, problems) => {
    const others = good.filter(({ id }) => !changed.some((one) => one.id === id));
    expect(compareWith(expected, [...others, ...changed]).problems).toEqual(problems);
  });

  test("a warning about timing alone is inconclusive: several gateways share a machine", () => {
    const finding = (requirement: string, subject: string, basis = "content") => ({
      ...{ outcome: "broken", requirements: [requirement] },
      ...{ subject, basis },
    });
    const warned = (id: string, ...findings: ReturnType<typeof finding>[]) =>
      ({ ...result(id, "warn"), findings }) as unknown as CheckResult;
    const late = [
      warned("x.y", finding("STEADY-LATENCY", "16 of 323 streams stalled")),
      warned("x.z", finding("STREAM-3", "ms from the last output to the end")),
      warned("x.w", finding("LIMIT-CONC-1", "of 11 denials took long", "timing")),
    ];
    const other = warned("x.u", finding("STEADY-LATENCY", "slow"), finding("CHAT-10", "500"));
    const compared = compareWith(expected, [...good, ...late, other]);
    expect(compared.problems).toEqual(["x.u: warn, which is not expected: m"]);
    expect(compared.leftOpen).toEqual(["x.y: m", "x.z: m", "x.w: m"]);
  });

  test("a failure is inconclusive if all it shows is that the gateway could not reach its database", () => {
    const finding = (reason?: string) => ({ outcome: "broken", requirements: ["AUTH-3"], response: { reason } });
    const failed = (id: string, ...findings: ReturnType<typeof finding>[]) =>
      ({ ...result(id, "fail"), findings }) as unknown as CheckResult;
    const both = failed("x.z", finding("no_database"), finding("model_not_found"));
    const unreachable = failed("x.y", finding("no_database"));
    const compared = compareWith(expected, [...good, unreachable, both, failed("x.w", finding())]);
    expect(compared.leftOpen).toEqual(["x.y: m"]);
    expect(compared.problems).toEqual(["x.z: fail, which is not expected: m", "x.w: fail, which is not expected: m"]);
  });

  test("a check that no longer exists is reported", () => {
    expect(compareWith(expected, []).problems).toContain("a.b: expected, but no such check exists");
  });
});
