import { expect, test } from "vitest";
import { nearestOf } from "../../src/core/index.ts";

test.each([
  ["a letter that differs", "ratePerM", "ratePerS"],
  ["neighbouring letters that are swapped", "knid", "kind"],
  ["letters that are missing", "inFlght", "inFlight"],
  ["the beginning of a name", "rate", "ratePerS"],
  ["too short a beginning", "rat", undefined],
  ["another name", "banana", undefined],
])("the nearest name: %s", (_what, written, meant) => {
  expect(nearestOf(written, ["kind", "ratePerS", "durationS", "inFlight"])).toBe(meant);
});
