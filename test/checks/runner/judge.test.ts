import { describe, expect, test } from "vitest";
import { defineCheck, instancesOf, select } from "../../../src/checks/index.ts";
import { judge } from "../../../src/checks/runner/judge.ts";
import { oneOf, success, type Verdict } from "../../../src/judging/index.ts";
import { CHECKS } from "../../../suites/index.ts";

/** Judges an empty recording by a function under test. */
function judged(decide: (verdict: Verdict) => void) {
  const check = defineCheck({
    id: "test.check",
    title: "a check of the test",
    covers: ["CHAT-1"],
    explains: "",
    cost: { requests: 0 },
    run: async () => null,
    judge: (_recording, verdict) => decide(verdict),
  });
  const [instance] = instancesOf(check);
  if (instance === undefined) throw new Error("no instance");
  return judge(instance, null);
}

describe("what a judge says becomes a status", () => {
  test.each<[status: string, decide: (verdict: Verdict) => void]>([
    ["pass", (v) => v.must("CHAT-1", 200, success)],
    ["fail", (v) => v.must("CHAT-1", 500, success)],
    [
      "fail",
      (v) => {
        v.should("CHAT-5", 500, 400);
        v.must("CHAT-1", 500, success);
      },
    ],
    ["warn", (v) => v.should("CHAT-5", 500, oneOf(400, 422))],
    ["warn", (v) => v.compat("COMPAT-USAGE", 1, 2)],
    ["observed", (v) => v.observe("STREAM-5", "anything")],
    [
      "pass",
      (v) => {
        v.observe("STREAM-5", "anything");
        v.should("CHAT-5", 400, 400);
      },
    ],
    [
      "blocked",
      (v) => {
        v.must("CHAT-1", 500, success);
        v.assume(false, "the control was served");
      },
    ],
    [
      "not-applicable",
      (v) => {
        v.must("CHAT-1", 500, success);
        v.notApplicable("not here");
      },
    ],
    [
      // An inconclusive result does not override a broken MUST.
      "fail",
      (v) => {
        v.must("CHAT-1", 500, success);
        v.inconclusive("nothing more was seen");
      },
    ],
    ["inconclusive", (v) => v.inconclusive("too little")],
    ["not-applicable", (v) => v.notApplicable("not here")],
    ["harness-error", () => undefined],
    [
      "harness-error",
      () => {
        throw new TypeError("a bug");
      },
    ],
  ])("%s (%#)", (status, decide) => {
    expect(judged(decide).status).toBe(status);
  });

  test("a failure names expectation, place and observation", () => {
    const { message, findings } = judged((v) =>
      v.must("CHAT-1", 500, success, { at: "status", because: "the plainest request" }),
    );
    expect(message).toBe("the plainest request: expected 2xx, got 500");
    expect(findings[0]).toMatchObject({
      name: "CHAT-1",
      requirements: ["CHAT-1"],
      outcome: "broken",
      expected: { kind: "status", range: "2xx" },
      observed: { kind: "value", value: 500 },
      deviation: { kind: "status" },
    });
  });

  test("an OPEN requirement can be observed and nothing else: the compiler refuses the rest", () => {
    judged((v) => {
      v.observe("STREAM-5", 1);
      // @ts-expect-error an OPEN requirement cannot be violated
      v.must("STREAM-5", 1, 2);
      // @ts-expect-error nor an advice
      v.should("AUTH-6", 1, 2);
      // @ts-expect-error a SHOULD requirement cannot fail anybody
      v.must("CHAT-5", 1, 2);
      // @ts-expect-error a violated MUST is not a warning
      v.should("MSG-7", 1, 1);
      // @ts-expect-error a requirement that binds clients is not in the MUST list of another layer
      v.compat("CHAT-1", 1, 2);
    });
  });
});

test("a warning about a MUST is also a harness error at run time", () => {
  const { status, message } = judged((v) => {
    v.should("MSG-7" as never, 1, 2);
  });
  expect([status, message]).toEqual(["harness-error", expect.stringMatching(/MSG-7 is a MUST/)]);
});

describe("selection", () => {
  test("by suite, check, instance and requirement", () => {
    expect(select(CHECKS, { suites: ["models"] }).length).toBeGreaterThan(2);
    expect(select(CHECKS, { only: ["errors.key-revoked"] })).toHaveLength(4);
    expect(select(CHECKS, { only: ["errors.key-revoked[messages,streaming]"] }).map(({ id }) => id)).toEqual([
      "errors.key-revoked[messages,streaming]",
    ]);
    expect(select(CHECKS, { only: ["MSG-4"] }).every(({ check }) => check.covers.includes("MSG-4"))).toBe(true);
  });

  test.each([{ suites: ["modells"] }, { only: ["errors.key-revoke"] }])(
    "a selection that matches nothing is an error with advice: %j",
    (selection) => {
      expect(() => select(CHECKS, selection)).toThrow(/there is no|is in the suite chat/);
    },
  );

  test("ids are unique, and instances of a check are in a stable order", () => {
    const ids = CHECKS.flatMap(instancesOf).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length);
  });
});

test("what a failure left undecided is kept, and only there", () => {
  const open = (v: Verdict) => v.markUndecided("inconclusive", "one kind could not be tried");
  const fail = (v: Verdict) => v.must("CHAT-1", 500, success);
  const undecided = (...steps: readonly ((verdict: Verdict) => unknown)[]) =>
    judged((verdict) => {
      for (const step of steps) step(verdict);
    }).undecided;
  expect(undecided(fail, open)).toBe("one kind could not be tried");
  expect(undecided(fail, (v) => v.inconclusive("nothing more was seen"))).toBe("nothing more was seen");
  expect(undecided(fail)).toBeUndefined();
  expect(undecided((v) => v.must("CHAT-1", 200, success), open)).toBeUndefined();
});
