import { expect, test } from "vitest";
import { formatCount, formatNumber, withSign } from "../../src/core/index.ts";

test.each([
  [0, "0 requests"],
  [1, "1 request"],
  [1_238, "1,238 requests"],
  [0.5, "0.5 requests"],
])("%d with its noun", (count, text) => expect(formatCount(count, "request")).toBe(text));

test("a number has the requested number of decimals, and separators", () => {
  expect(formatNumber(2_002.94, 1)).toBe("2,002.9");
  expect(formatNumber(1_780.2)).toBe("1,780");
});

test("what rounds to zero has no sign", () => {
  expect(formatNumber(-0.04, 1)).toBe("0.0");
  expect(formatNumber(-0.06, 1)).toBe("-0.1");
  expect([-0.3, 0, 3.94].map((change) => withSign(change, formatNumber(Math.abs(change), 0)))).toEqual([
    "0",
    "0",
    "+4",
  ]);
  expect(withSign(-0.4, "0.4")).toBe("−0.4");
});
