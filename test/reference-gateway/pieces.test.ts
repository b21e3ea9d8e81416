import { describe, expect, test } from "vitest";
import { preferredCoding } from "../../src/reference-gateway/encode/compress.ts";
import { countPieces, splitPieces } from "../../src/reference-gateway/providers/text-pieces.ts";
import { Ring } from "../../src/reference-gateway/ring.ts";

describe("pieces of text", () => {
  test.each([
    ["words keep the space behind them", "one two  three", ["one ", "two  ", "three"]],
    ["leading space belongs to the first piece", "  one", ["  ", "one"]],
    ["long words are cut", "abcdefghijklmnop", ["abcdefghijkl", "mnop"]],
    ["text without spaces is cut", "東".repeat(14), ["東".repeat(12), "東東"]],
    ["surrogate pairs stay whole", `${"a".repeat(11)}🚀b`, [`${"a".repeat(11)}🚀`, "b"]],
    ["nothing gives nothing", "", []],
  ])("%s", (_why, text, pieces) => {
    expect(splitPieces(text)).toEqual(pieces);
    expect(countPieces(text)).toBe(pieces.length);
  });
});

test.each([
  ["gzip", "gzip"],
  ["gzip, deflate, br", "br"],
  ["gzip;q=1.0, br;q=0.5", "gzip"],
  ["gzip;q=0", undefined],
  ["identity", undefined],
  ["identity, gzip;q=0.5", undefined],
  ["*", "br"],
  ["*;q=0", undefined],
  ["deflate", undefined],
  ["GZIP", "gzip"],
  ["", undefined],
])("Accept-Encoding %j gets %j", (accepted, coding) => {
  expect(preferredCoding(accepted)).toBe(coding);
});

test("a ring keeps the newest, oldest first", () => {
  const ring = new Ring<number>(3);
  for (const entry of [1, 2, 3, 4, 5]) ring.add(entry);
  expect([...ring]).toEqual([3, 4, 5]);
});

test.each<[entries: number[], count: number, newest: number[]]>([
  [[], 2, []],
  [[1, 2], 0, []],
  [[1, 2], 1, [2]],
  [[1, 2], 9, [1, 2]],
  [[1, 2, 3], 2, [2, 3]],
  [[1, 2, 3, 4], 2, [3, 4]],
  [[1, 2, 3, 4, 5], 3, [3, 4, 5]],
])("a ring of three after %j: the newest %i are %j", (entries, count, newest) => {
  const ring = new Ring<number>(3);
  for (const entry of entries) ring.add(entry);
  expect(ring.newest(count)).toEqual(newest);
});
