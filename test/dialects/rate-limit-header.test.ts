import { expect, test } from "vitest";
import { readRateLimit } from "../../src/dialects/index.ts";

test.each([
  ["20", { limit: 20, perMinute: [20] }],
  [" 20 ", { limit: 20, perMinute: [20] }],
  // In Envoy's format, and in that of the draft.
  ["20, 20;w=60", { limit: 20, perMinute: [20] }],
  ['10, 10;w=1;name="per-ip", 1000;w=3600', { limit: 10, perMinute: [600, 1_000 / 60] }],
  ['100,100 ; window=60 ; comment="a, b; c"', { limit: 100, perMinute: [100] }],
  ["5, 5", { limit: 5, perMinute: [5] }],
  ["5, 5;w=0", { limit: 5, perMinute: [5] }],
  ["0", { limit: 0, perMinute: [0] }],
  ["20/min", undefined],
  ["20, 20;w=", undefined],
  ["20, w=60", undefined],
  ["20;w=60", undefined],
  ["20,", undefined],
  ["-1", undefined],
  ["0.4", undefined],
  ["none", undefined],
  ["", undefined],
  [undefined, undefined],
  [`20${", 20;w=60".repeat(2_000)};`, undefined],
])("X-RateLimit-Limit: %s", (value, expected) => {
  expect(readRateLimit(value)).toEqual(expected);
});
