import { expect, test } from "vitest";
import { judgeTotals } from "../../../src/load/analysis/judge-totals.ts";
import { OutcomeCounts, phaseRecord, withoutTiming } from "../../../src/load/measure/phase-record.ts";
import { Tally } from "../../../src/load/measure/tally.ts";
import { DEFAULT_ALLOW } from "../../../src/load/workload/workload.ts";

const NOTHING = { sent: 0, admitted: 0, denied: 0, failed: 0, invalid: 0, dropped: 0 };

/** The message of a phase with these totals whose generator was late. */
function messageOf(totals: Partial<Parameters<typeof judgeTotals>[1]>): string {
  const outcomes = new OutcomeCounts();
  const findings = judgeTotals({ allow: DEFAULT_ALLOW, written: null }, { ...NOTHING, ...outcomes.close(), ...totals });
  const phase = phaseRecord({
    name: "w",
    title: "w",
    tally: new Tally(0),
    outcomes,
    startS: 0,
    durationS: 1,
    peakInFlight: 1,
    connections: 0,
    findings,
    questions: [],
  });
  return withoutTiming(phase, { kind: "machine-busy", problems: ["stalled for 700 ms"] }).message;
}

test("a busy machine does not hide that no connection was accepted", () => {
  const failures = [{ what: "unreachable", count: 8 }];
  const message = messageOf({ sent: 8, failed: 8, failures, lastFailure: "connect ECONNREFUSED" });
  expect(message).toContain("none of 8 requests reached a gateway: connect ECONNREFUSED");
  expect(messageOf({})).toContain("stalled for 700 ms");
});
