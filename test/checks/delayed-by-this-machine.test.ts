import { describe, expect, test } from "vitest";
import type { Response } from "../../src/checks/index.ts";
import { queuedAtLimit } from "../../suites/limits/concurrency/in-flight.ts";
import { isBracketed } from "../../suites/limits/rate/while-denied.ts";
import { judged, seen } from "../support/seen-response.ts";

const denied = (sentMs: number, endMs = sentMs + 5, ownLagMs = 0) =>
  seen({ sentMs, endMs, status: 429, reason: "concurrency_limit_exceeded", ownLagMs });
const served = (sentMs: number, endMs: number, ownLagMs = 0) => seen({ sentMs, endMs, ownLagMs });
const times = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));

/** What the check of non-streaming requests reports for a burst, with a limit of four in flight. */
function judgeBurst(nonStreaming: readonly Response[], withinLimit: readonly Response[] = []) {
  const recording = {
    burst: [],
    unnamed: "rate",
    spaced: false,
    limits: { rpm: 6_000, inFlight: 4 },
    nonStreaming,
    lateNonStreaming: withinLimit.length === 0 ? null : { held: withinLimit, extra: denied(500) },
  };
  const { status, findings } = judged("limits.concurrency-non-streaming", recording);
  return { status, broken: findings.filter(({ outcome }) => outcome === "broken").length };
}

describe("more non-streaming replies than the limit", () => {
  test("fail a gateway that served them together", () => {
    const burst = [...times(6, (index) => served(index, 2_000 + index)), ...times(6, (index) => denied(10 + index))];
    expect(judgeBurst(burst)).toMatchObject({ status: "fail" });
  });

  test("decide nothing if two may have begun after others had ended: the gateway stalled", () => {
    const late = times(2, (index) => served(index, 4_100 + index));
    const burst = [...times(4, (index) => served(index, 2_000)), ...late, ...times(6, (index) => denied(10 + index))];
    expect(judgeBurst(burst)).toEqual({ status: "inconclusive", broken: 0 });
  });

  test("decide nothing if a busy gateway delayed them all: a reply takes less time once it is idle", () => {
    const burst = [
      ...times(4, (index) => served(index, 5_000)),
      ...times(2, (index) => served(index, 7_100 + index)),
      ...times(6, (index) => denied(10 + index)),
    ];
    expect(judgeBurst(burst)).toMatchObject({ status: "fail" });
    const withinLimit = times(4, (index) => served(index, 2_000));
    expect(judgeBurst(burst, withinLimit)).toEqual({ status: "inconclusive", broken: 0 });
  });

  test("decide nothing if this process stalled", () => {
    const burst = [...times(6, (index) => served(index, 2_000, 700)), ...times(6, (index) => denied(10 + index))];
    expect(judgeBurst(burst)).toEqual({ status: "inconclusive", broken: 0 });
  });
});

test("one late reply among denials is not a queue; most of them are", () => {
  const held = times(4, () => served(0, 3_000));
  for (const one of held) (one.exchange.response as { body: { pieces: unknown } }).body.pieces = [[100_000, 2]];
  const queued = (length: number) => times(length, (index) => served(200 + index, 3_050));
  const refused = times(4, (index) => denied(300 + index));
  expect(queuedAtLimit([...queued(1), ...refused], held)).toBeUndefined();
  expect(queuedAtLimit([...queued(5), ...refused], held)?.status).toBe(200);
});

test("an attempt counts between two denials of the same kind, not between a denial and a failure", () => {
  const denial = () => seen({ sentMs: 0, endMs: 5, status: 429, reason: "rate_limit_exceeded" });
  const entry = { kind: "conversations", tries: [], seconds: 1, before: denial() };
  expect(isBracketed({ ...entry, after: denial() })).toBe(true);
  expect(isBracketed({ ...entry, after: seen({ sentMs: 0, endMs: 5, status: 504 }) })).toBe(false);
});
