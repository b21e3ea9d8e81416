import { describe, expect, test } from "vitest";
import {
  checkOfPhase,
  checksOfLoad,
  checksOfRun,
  checksOfThresholds,
  checksOfUnsent,
  type Finding,
  figuresOfLoad,
  type JudgedLoad,
  statusOfPhase,
} from "../../src/record/index.ts";

type Run = JudgedLoad["runs"][number];
type Phase = Run["phases"][number];

const finding = (given: Partial<Finding>): Finding =>
  ({ name: "LIMIT-RATE-1", requirements: [], exchanges: [], ...given }) as Finding;

const phase = (given: Partial<Phase>): Phase =>
  ({
    name: "over-rate-limit",
    title: "Over the rate limit",
    durationS: 2,
    verdict: "pass",
    message: "as expected",
    findings: [],
    invariants: [],
    ...given,
  }) as unknown as Phase;

const run = (given: Partial<Run>): Run =>
  ({ name: "starter", durationS: 5, verdict: "pass", reasons: [], phases: [phase({})], ...given }) as unknown as Run;

const statuses = (given: Partial<Run>) =>
  checksOfLoad({ runs: [run(given)] } as JudgedLoad).map(({ id, status, message }) => [id, status, message]);

describe("the check of a run", () => {
  test.each<[string, Partial<Run>, string, string]>([
    ["a generator that kept its schedule", {}, "pass", "the generator kept its schedule"],
    [
      "a reason that belongs to no phase",
      { verdict: "inconclusive", reasons: [{ text: "the generator was late" }] as Run["reasons"] },
      "inconclusive",
      "the generator was late",
    ],
    ["no phase at all", { phases: [] }, "inconclusive", "nothing was sent"],
    ["an undecided run whose phases are all decided", { verdict: "inconclusive" }, "inconclusive", "nothing was sent"],
    [
      "an undecided phase, which has its own check",
      { verdict: "inconclusive", phases: [phase({ verdict: "inconclusive" })] },
      "pass",
      "the generator kept its schedule",
    ],
    [
      "a failed phase, which has its own check",
      { verdict: "fail", phases: [phase({ verdict: "fail" })] },
      "pass",
      "the generator kept its schedule",
    ],
  ])("%s", (_what, given, status, message) => {
    expect(statuses(given)[0]).toEqual(["load.starter", status, message]);
  });

  test("has the reason only if it is the only one", () => {
    const busy = { kind: "machine-busy", measured: 9, bound: 2 } as const;
    const one = { verdict: "inconclusive", reasons: [{ text: "busy", reason: busy }] } as unknown as Partial<Run>;
    const two = {
      verdict: "inconclusive",
      reasons: [{ text: "busy", reason: busy }, { text: "late" }],
    } as unknown as Partial<Run>;
    const reasonOf = (given: Partial<Run>) => checksOfLoad({ runs: [run(given)] } as JudgedLoad)[0]?.reason;
    expect(reasonOf(one)).toEqual(busy);
    expect(reasonOf(two)).toBeUndefined();
  });
});

test("a phase has the requirements of all of its findings, and those of the broken ones as violated", () => {
  const findings = [
    finding({ outcome: "met", requirements: ["LIMIT-RATE-1"], exchanges: ["x1"] } as Partial<Finding>),
    finding({
      outcome: "broken",
      requirements: ["LIMIT-RATE-4", "LIMIT-RATE-1"],
      exchanges: ["x2", "x1"],
    } as Partial<Finding>),
  ];
  const [, check] = checksOfLoad({ runs: [run({ phases: [phase({ verdict: "fail", findings })] })] } as JudgedLoad);
  expect(check).toMatchObject({
    id: "load.starter.over-rate-limit",
    check: "load.over-rate-limit",
    status: "fail",
    requirements: ["LIMIT-RATE-1", "LIMIT-RATE-4"],
    violated: ["LIMIT-RATE-4", "LIMIT-RATE-1"],
    exchanges: ["x1", "x2"],
    durationMs: 2_000,
  });
});

test("checks of a run are found by its name, and not those of a run whose name begins with it", () => {
  const load = {
    runs: [
      run({
        thresholds: [
          { status: "fail", message: "crossed", findings: [{ name: "failed < 1 %" }] },
        ] as unknown as NonNullable<Run["thresholds"]>,
      }),
      run({ name: "starter-2" }),
    ],
  } as JudgedLoad;
  const checks = checksOfLoad(load);
  expect(checksOfRun(checks, { name: "starter" }).map(({ id }) => id)).toEqual([
    "load.starter",
    "load.starter.thresholds[failed < 1 %]",
    "load.starter.over-rate-limit",
  ]);
  expect(checksOfThresholds(checks, { name: "starter" })).toMatchObject([{ status: "fail", message: "crossed" }]);
  expect(checksOfThresholds(checks, { name: "starter-2" })).toEqual([]);
  expect(checkOfPhase(checks, { name: "starter-2" }, { name: "over-rate-limit" })?.id).toBe(
    "load.starter-2.over-rate-limit",
  );
});

describe("the verdict on a phase in tables", () => {
  const THRESHOLDS = [
    { status: "fail", message: "crossed", findings: [{ name: "failed < 1 %" }] },
  ] as unknown as NonNullable<Run["thresholds"]>;
  const INVARIANTS = [{ id: "chat.every-usage", status: "fail" }] as unknown as Phase["invariants"];
  const named = (name: string, given: Partial<Phase> = {}) => phase({ name, ...given });
  test.each<[string, Partial<Run>, string[]]>([
    ["passes in a run that passes", {}, ["pass"]],
    ["the only phase fails with a threshold of its run", { thresholds: THRESHOLDS }, ["fail"]],
    [
      "the only phase is inconclusive with its run",
      { reasons: [{ text: "late" }] as Run["reasons"] },
      ["inconclusive"],
    ],
    [
      "of several phases, a threshold over all of them fails none",
      { thresholds: THRESHOLDS, phases: [named("a"), named("b")] },
      ["pass", "pass"],
    ],
    [
      "fails with an invariant over its exchanges",
      { phases: [named("a", { invariants: INVARIANTS }), named("b")] },
      ["fail", "pass"],
    ],
    [
      "nothing judged: does not pass with the generator",
      { phases: [named("a", { verdict: "not-applicable" })] },
      ["not-applicable"],
    ],
  ])("%s", (_what, given, expected) => {
    const judged = run(given);
    const checks = checksOfLoad({ runs: [judged] } as JudgedLoad);
    expect(judged.phases.map((one) => statusOfPhase(checks, judged, one))).toEqual(expected);
  });
});

test("load that was not sent is inconclusive, one check per run", () => {
  expect(checksOfUnsent(["starter", "growth"], "the preflight failed")).toMatchObject([
    { id: "load.starter", status: "inconclusive", message: "no load was sent: the preflight failed" },
    { id: "load.growth", status: "inconclusive" },
  ]);
});

test("figures have no verdicts", () => {
  const [figures] = figuresOfLoad({ runs: [run({})] } as JudgedLoad).runs;
  expect(Object.keys(figures ?? {}).sort()).toEqual(["durationS", "name", "phases"]);
  expect(Object.keys(figures?.phases[0] ?? {}).sort()).toEqual(["durationS", "name", "title"]);
});
