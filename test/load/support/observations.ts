import type { Observation } from "../../../src/judging/index.ts";

/** A request this many seconds after the first of the run. */
export function sent(atS: number, more: Partial<Observation> = {}): Observation {
  const sentUs = 1_000_000_000 + atS * 1_000_000;
  return {
    phase: "at-rate-limit",
    role: "even",
    dialect: "chat",
    stream: false,
    key: "valid",
    outcome: "admitted",
    what: "200",
    status: 200,
    dueUs: sentUs,
    sentUs,
    headUs: sentUs + 1_000,
    connectUs: undefined,
    firstTokenUs: undefined,
    endUs: sentUs + 2_000,
    longestGapUs: undefined,
    tokens: undefined,
    retryAfter: undefined,
    retryAfterWaitMs: undefined,
    exchange: undefined,
    flaw: undefined,
    ...more,
  };
}
