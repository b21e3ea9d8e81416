import { expect, test } from "vitest";
import { beyondLimit } from "../../../src/load/analysis/beyond-limit.ts";
import { DEFAULT_ALLOW, type Workload } from "../../../src/load/workload/workload.ts";

/** What is said about a workload on an account with 600 requests per minute. */
function said(arrivals: Workload["arrivals"], more: object = {}) {
  return beyondLimit(
    { name: "w", arrivals, allow: DEFAULT_ALLOW, written: {}, ...more },
    { limits: { rpm: 600, inFlight: 256 } },
  );
}

test("a load beyond the limit of its account is named before anything is sent", () => {
  const sentence = (perMinute: string) =>
    `w sends about ${perMinute} requests within one minute, but the account's limit is 600/min: a gateway that enforces it denies the rest, and denials fail the load. Lower its rate, or allow them with allow.deniedShare or a threshold on denied`;
  expect(said({ kind: "constant", ratePerS: 100, durationS: 10 })).toEqual([sentence("1,000")]);
  expect(said({ kind: "constant", ratePerS: 11, durationS: 600 })).toEqual([sentence("660")]);
  expect(said({ kind: "constant", ratePerS: 100, durationS: 6 })).toEqual([]);
  expect(said({ kind: "constant", ratePerS: 10, durationS: 600 })).toEqual([]);
});

test("denials that the workload allows, or a limit that is unknown, need no warning", () => {
  const arrivals = { kind: "constant", ratePerS: 100, durationS: 10 } as const;
  expect(said(arrivals, { allow: { ...DEFAULT_ALLOW, deniedShare: 0.5 } })).toEqual([]);
  expect(said(arrivals, { written: { thresholds: ["denied < 50 %"] } })).toEqual([]);
  expect(said({ kind: "closed", inFlight: 500, durationS: 10, rampS: 0 })).toEqual([]);
  expect(beyondLimit({ name: "w", arrivals, allow: DEFAULT_ALLOW, written: {} }, { limits: undefined })).toEqual([]);
});
