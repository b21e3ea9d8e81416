import { expect, test } from "vitest";
import { type Decision, readScopes } from "../../src/limits/index.ts";

const sent = (kind: Decision["kind"], ordinal: number, verdict: Decision["verdict"]): Decision => ({
  ...{ ordinal, kind, atUs: ordinal * 1_000, slackUs: 100, verdict, unnamed: false },
});

test("a kind that was not sent is unsupported by the target, or was not reached", () => {
  const { key, dialect, model, account } = readScopes([sent("main", 1, "admitted")], ["key", "dialect"]);
  expect([key, dialect, model, account].map(({ value, evidence }) => [value, evidence])).toEqual([
    [null, "not reached: the search ended before such a request was decided"],
    [null, "not reached: the search ended before such a request was decided"],
    [null, "the target has no second model"],
    [null, "the target has no key of another account"],
  ]);
});

test("what happens between two denials of the main kind decides", () => {
  const decisions = [1, 3, 5].map((ordinal) => sent("main", ordinal, "rate"));
  const between = (verdict: Decision["verdict"]) => [2, 4].map((ordinal) => sent("key", ordinal, verdict));
  expect(
    readScopes(
      [...decisions, ...between("rate")].sort((a, b) => a.ordinal - b.ordinal),
      ["key"],
    ).key.value,
  ).toBe("shared");
  expect(
    readScopes(
      [...decisions, ...between("admitted")].sort((a, b) => a.ordinal - b.ordinal),
      ["key"],
    ).key.value,
  ).toBe("separate");
});
