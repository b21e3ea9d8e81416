import { describe, expect, test } from "vitest";
import { describeExpected, describeObserved } from "../../reports/text/index.ts";
import {
  absent,
  anArray,
  anObject,
  aString,
  atLeast,
  atMost,
  callerError,
  type Expectation,
  filledString,
  oneOf,
  serverError,
  success,
  that,
  toExpectation,
  tokenCounts,
  toObserved,
} from "../../src/judging/index.ts";

describe("what is met, and what is not", () => {
  test.each<[Expectation, met: readonly unknown[], broken: readonly unknown[]]>([
    [absent, [undefined], [null, "", 0]],
    [aString, ["", "x"], [undefined, 1, null, ["x"]]],
    [filledString, ["x", " x "], ["", " ", "\n", undefined, 1, null]],
    [anArray, [[], [1]], [{}, "", undefined, null]],
    [anObject, [{}, { a: 1 }], [[], null, "", undefined, 1]],
    [success, [200, 204, 299], [199, 300, "200", undefined, 100]],
    [callerError, [400, 404, 499], [399, 500, "404", undefined]],
    [serverError, [500, 503, 599], [499, 600, "500", undefined]],
    [atLeast(2), [2, 3, 2.5], [1, 1.99, "2", undefined]],
    [atMost(2), [2, 1, -1], [3, 2.01, "2", undefined]],
    [oneOf(400, 422, null), [400, 422, null], [401, "400", undefined]],
    [
      tokenCounts,
      [{ a: 0 }, { a: 3, b: "x" }, { a: "x", b: 1.5 }],
      [{}, { a: -1 }, { a: "1" }, { a: Number.NaN }, { a: Number.POSITIVE_INFINITY }, [], null, 3, undefined],
    ],
  ])("%#", ({ test: meets }, met, broken) => {
    for (const value of met) expect(meets(value), JSON.stringify(value)).toBe(true);
    for (const value of broken) expect(meets(value), JSON.stringify(value)).toBe(false);
  });

  test("a plain value means equality", () => {
    const { test: meets, expected } = toExpectation<unknown>("x");
    expect([meets("x"), meets("y"), meets(undefined)]).toEqual([true, false, false]);
    expect(expected).toEqual({ kind: "value", value: "x" });
    expect(toExpectation(Number.NaN).test(Number.NaN)).toBe(true);
    expect(toExpectation<unknown>({ test: "no function", expected: {} }).test({})).toBe(false);
    expect(toExpectation({ test: () => true }).expected).toEqual({ kind: "value", value: {} });
    const own = that("anything", () => true);
    expect(toExpectation(own)).toBe(own);
  });
});

test("expectations have words", () => {
  const all = [
    absent,
    aString,
    filledString,
    anArray,
    anObject,
    success,
    callerError,
    serverError,
    tokenCounts,
    atLeast(2),
    atMost(3),
    oneOf(1, "b"),
  ];
  expect(all.map(({ expected }) => describeExpected(expected))).toEqual([
    "nothing",
    "a string",
    "a non-empty string",
    "an array",
    "an object",
    "2xx",
    "4xx",
    "5xx",
    "an object with at least one count of zero or more",
    "at least 2",
    "at most 3",
    '1 or "b"',
  ]);
});

test("values in words", () => {
  expect(
    [undefined, null, 1, "a\n", { a: [1] }, Symbol.for("x")].map((value) => describeObserved(toObserved(value))),
  ).toEqual(["nothing", "null", "1", '"a\\n"', '{"a":[1]}', '"Symbol(x)"']);
  expect(toObserved("x".repeat(298))).toEqual({ kind: "value", value: "x".repeat(298) });
  expect(toObserved("x".repeat(299))).toEqual({ kind: "excerpt", text: `"${"x".repeat(299)}`, characters: 301 });
});
