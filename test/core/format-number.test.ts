import { expect, test } from "vitest";
import { formatCount, formatNumber } from "../../src/core/index.ts";

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
