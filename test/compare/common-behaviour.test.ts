import { expect, test } from "vitest";
import { commonBehaviour } from "../../src/compare/common-behaviour.ts";
import type { Behaviour, ComparedResponse } from "../../src/compare/drift.ts";
import { result } from "../support/records.ts";

const response = (status: number): ComparedResponse => ({
  ...{ kind: "chat non-streaming any", status, reason: undefined, headers: [], documents: [], message: undefined },
});

/** A run with these exchanges of its checks. */
function behaviourOf(exchanges: Readonly<Record<string, readonly string[]>>, preflight: readonly string[]): Behaviour {
  const ids = [...preflight, ...new Set(Object.values(exchanges).flat())];
  return {
    checks: Object.entries(exchanges).map(([id, own]) => result(id, "pass", { exchanges: [...own] })),
    responses: new Map(ids.map((id) => [id, response(200)])),
    invariants: new Set(["robustness.all"]),
  };
}

const QUICK = behaviourOf({ "auth.a": ["1"], "limits.a": ["2"], "robustness.all": ["0", "1", "2"] }, ["0"]);

test("runs of the same check instances are compared as they are", () => {
  const other = behaviourOf({ "auth.a": ["11"], "limits.a": ["12"] }, ["10"]);
  expect(commonBehaviour(QUICK, other)).toEqual({ a: QUICK, b: other, notCompared: 0 });
});

test("what was sent for check instances of one run only is not compared, wherever else it was read", () => {
  const full = behaviourOf(
    {
      "auth.a": ["11"],
      "auth.b": ["12"],
      // The requests of one scenario serve two check instances, and the second needs more of them.
      "limits.a": ["13", "14"],
      "limits.b": ["13", "14"],
      "robustness.all": ["10", "11", "12", "13", "14"],
    },
    ["10"],
  );
  const { a, b, notCompared } = commonBehaviour(QUICK, full);
  expect(notCompared).toBe(1);
  expect([a, b].map(({ checks }) => checks.map(({ id }) => id))).toEqual([["auth.a"], ["auth.a"]]);
  expect([...a.responses.keys()]).toEqual(["0", "1"]);
  expect([...b.responses.keys()]).toEqual(["10", "11"]);
});
