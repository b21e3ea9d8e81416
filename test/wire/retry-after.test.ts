import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readRetryAfter, retryAfterMs } from "../../src/wire/index.ts";

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0);

describe("Retry-After", () => {
  test.each<[value: string, ms: number | undefined, why: string]>([
    ["0", 0, "zero is whole"],
    ["7", 7_000, "seconds"],
    [" 7 ", 7_000, "blanks around a field value do not count"],
    [
      "60000",
      60_000_000,
      "milliseconds sent by mistake are still a number of seconds; plausibility is judged elsewhere",
    ],
    ["3153600000", 3_153_600_000_000, "a century"],
    ["Sat, 21 Nov 2026 12:00:30 GMT", 30_000, "IMF-fixdate"],
    ["Saturday, 21-Nov-26 12:00:30 GMT", 30_000, "RFC 850, obsolete but to be accepted"],
    ["Sat Nov 21 12:00:30 2026", 30_000, "asctime"],
    ["Fri, 20 Nov 2026 12:00:30 GMT", 0, "a date in the past"],
    ["Saturday, 21-Nov-94 12:00:30 GMT", 0, "two digits more than 50 years ahead mean the past"],
    ["", undefined, "empty"],
    ["-3", undefined, "negative; Date.parse would read a year"],
    ["1.5", undefined, "fraction; Date.parse would read a day"],
    ["soon", undefined, "a word"],
    ["60s", undefined, "a unit"],
    ["5, 30", undefined, "two values"],
    ["2026-11-21T12:00:30Z", undefined, "an ISO date"],
    ["Sat, 31 Feb 2026 12:00:30 GMT", undefined, "a day that does not exist"],
    ["Sat, 21 Nov 2026 12:00:30 UTC", undefined, "another zone name"],
    ["1e3", undefined, "not digits only"],
    ["٣", undefined, "digits of another script"],
  ])("%j → %s (%s)", (value, ms) => {
    expect(retryAfterMs(value, NOW)).toBe(ms);
  });

  test("never throws, and never gives a negative or unordered wait", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String), fc.date().map(String)), (value) => {
        const ms = retryAfterMs(value, NOW);
        expect(ms === undefined || ms >= 0).toBe(true);
      }),
    );
  });

  test("says why a value cannot be used", () => {
    const why = (value: string) => {
      const form = readRetryAfter(value, NOW);
      return form.kind === "unusable" ? form.why : form.kind;
    };
    expect(["", "-1", "0.5", "2026-11-21", "1, 2", "500ms", "later"].map(why)).toEqual([
      "empty",
      "a negative number",
      "a fraction",
      "an ISO date",
      "several values",
      "a number with a unit",
      "neither whole seconds nor an HTTP date",
    ]);
  });
});
