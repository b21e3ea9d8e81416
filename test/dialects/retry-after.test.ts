import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readRetryAfter, retryAfterMs, retryAfterWaitMs } from "../../src/dialects/index.ts";

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0);

describe("Retry-After", () => {
  test.each<[value: string, ms: number | undefined, why: string]>([
    ["0", 0, "zero is whole"],
    ["7", 7_000, "seconds"],
    [" 7 ", 7_000, "blanks around a field value do not count"],
    ["60000", 60_000_000, "milliseconds sent by mistake are still a number of seconds; other code judges plausibility"],
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
    ["Sat, 21 Nov 2026 12:00:60 GMT", 60_000, "a leap second"],
    ["Sat, 21 Nov 2026 12:00:61 GMT", undefined, "no such second"],
    ["Sat, 21 Nov 2026 12:60:00 GMT", undefined, "no such minute"],
    ["Sat, 21 Nov 2026 24:00:00 GMT", undefined, "no such hour"],
    ["xSat, 21 Nov 2026 12:00:30 GMT", undefined, "something before a date"],
    ["Sat, 21 Nov 2026 12:00:30 GMT+1", undefined, "something after a date"],
    ["xSaturday, 21-Nov-26 12:00:30 GMT", undefined, "something before an old date"],
    ["Saturday, 21-Nov-26 12:00:30 GMT.", undefined, "something after an old date"],
    ["xSat Nov 21 12:00:30 2026", undefined, "something before the oldest date"],
    ["Sat Nov 21 12:00:30 20261", undefined, "something after the oldest date"],
    ["Tue Nov  3 12:00:30 2026", 0, "one digit of a day, after a blank"],
    ["Saturday, 21-Nov-76 12:00:30 GMT", Date.UTC(2076, 10, 21, 12, 0, 30) - NOW, "50 years ahead still are"],
    ["Saturday, 21-Nov-77 12:00:30 GMT", 0, "51 are the past"],
    ["Fri, 01 Jan 2027 00:00:00 GMT", Date.UTC(2027, 0, 1) - NOW, "the first month"],
    ["9".repeat(400), 9_007_199_254_740, "more digits than can be computed with"],
    ["Sat, 21 Nov 9999 12:00:30 GMT", 9_007_199_254_740, "a date beyond that"],
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
    const one = (text: string, all: readonly string[]) => expect(all.map(why), text).toEqual(all.map(() => text));
    one("a negative number", ["-1", "-12", "-1.5", "-12.25"]);
    one("a fraction", ["0.5", ".5", "+1.5", "12.25"]);
    one("an ISO date", ["2026-11-21", "2026-11-21T12:00:30Z"]);
    one("several values", ["1, 2", "12,30", "1 , 2 ,3", "5,  30"]);
    one("a number with a unit", ["500ms", "5 s", "12  minutes"]);
    one("neither whole seconds nor an HTTP date", [
      "-1x",
      "--1",
      "x1.5",
      "1.5x",
      "in 1, 2",
      "1, 2 or 3",
      "a 5s",
      "5s!",
      "on 2026-11-21",
      "2026-11-2",
      "1, ",
      "1.",
      "-",
      "-.5",
    ]);
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

const OURS = "Sat, 21 Nov 2026 12:00:00 GMT";
const IN_HALF_A_MINUTE = "Sat, 21 Nov 2026 12:00:30 GMT";

test.each([
  ["no value", undefined, OURS, undefined],
  ["seconds need no clock", "7", "Sat, 21 Nov 2026 09:00:00 GMT", 7_000],
  ["a date by our clock where theirs is not known", IN_HALF_A_MINUTE, undefined, 30_000],
  ["a date by the gateway's clock, one second ahead", IN_HALF_A_MINUTE, "Sat, 21 Nov 2026 12:00:01 GMT", 29_000],
  [
    "a date by the gateway's clock, 90 s ahead",
    "Sat, 21 Nov 2026 12:02:00 GMT",
    "Sat, 21 Nov 2026 12:01:30 GMT",
    30_000,
  ],
  [
    "a date by the gateway's clock, 60 s behind",
    "Sat, 21 Nov 2026 11:59:40 GMT",
    "Sat, 21 Nov 2026 11:59:00 GMT",
    40_000,
  ],
  [
    "a date by the gateway's clock, 3 hours behind",
    "Sat, 21 Nov 2026 09:01:00 GMT",
    "Sat, 21 Nov 2026 09:00:00 GMT",
    60_000,
  ],
  ["a date that is past by the gateway's clock", IN_HALF_A_MINUTE, "Sat, 21 Nov 2026 12:01:00 GMT", 0],
  ["an invalid Date", IN_HALF_A_MINUTE, "yesterday", 30_000],
  ["no usable value", "soon", OURS, undefined],
])("the wait that a denial states: %s", (_why, value, date, ms) => {
  expect(retryAfterWaitMs(value, { date, arrivedAtMs: NOW })).toBe(ms);
});
