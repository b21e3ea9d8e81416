import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Observation } from "../../../src/judging/index.ts";
import { judgeConcurrencyLimit } from "../../../src/load/tier/at-concurrency-limit.ts";
import { judgeAtTheLimit } from "../../../src/load/tier/at-rate-limit.ts";
import { judgeService } from "../../../src/load/tier/judge/judge-service.ts";
import { judgeOverTheLimit } from "../../../src/load/tier/over-rate-limit.ts";
import { fixedWindow } from "../../../src/reference-gateway/limiters/fixed-window.ts";
import type { RateLimiter } from "../../../src/reference-gateway/limiters/rate-limiter.ts";
import { slidingLog } from "../../../src/reference-gateway/limiters/sliding-log.ts";
import { tokenBucket } from "../../../src/reference-gateway/limiters/token-bucket.ts";
import { sent } from "../support/observations.ts";

const RPM = 300;
const LIMITS = { rpm: RPM, inFlight: 24 };
const ORIGIN_US = 1_000_000_000;

/** A stall of the gateway or the generator, seconds of the run. */
interface Standstill {
  readonly atS: number;
  readonly forS: number;
}

const during = (atS: number, { atS: from, forS }: Standstill) => atS >= from && atS < from + forS;
/** Events that fall into a stall happen at its end. */
const after = (atS: number, stop: Standstill | undefined) =>
  stop !== undefined && during(atS, stop) ? stop.atS + stop.forS : atS;

/** Plays a schedule against a limiter whose host, or ours, stalls for a while. */
function play(
  due: readonly { readonly atS: number; readonly role: string }[],
  limiter: RateLimiter,
  stopped: { readonly gateway?: Standstill; readonly harness?: Standstill },
  phase: string,
): Observation[] {
  const arrivals = due
    .map(({ atS, role }) => ({ dueS: atS, role, sentS: after(atS, stopped.harness) }))
    .sort((a, b) => a.sentS - b.sentS)
    .map((one) => ({ ...one, countedS: after(one.sentS + 0.001, stopped.gateway) }));
  return arrivals.map(({ dueS, sentS, countedS, role }) => {
    const countedUs = ORIGIN_US + countedS * 1e6;
    const admitted = limiter.waitUs(countedUs) === 0;
    if (admitted) limiter.count(countedUs);
    const readUs = ORIGIN_US + after(countedS + 0.002, stopped.harness) * 1e6;
    return sent(sentS, {
      phase,
      role,
      dueUs: ORIGIN_US + dueS * 1e6,
      headUs: readUs,
      endUs: readUs + 1_000,
      ...(admitted ? {} : { outcome: "denied", what: "rate_limit_exceeded", status: 429 }),
    });
  });
}

const LIMITERS: readonly (readonly [name: string, make: (offsetS: number) => RateLimiter])[] = [
  ["a sliding log", () => slidingLog(RPM)],
  ["a fixed window", (offsetS) => fixedWindow(RPM, ORIGIN_US + offsetS * 1e6)],
  ["a token bucket", () => tokenBucket(RPM)],
];

/** Twice the rate for 95 s, and 38 concurrent requests every five seconds. */
const OVERLOAD = [
  ...Array.from({ length: 95 * 10 }, (_, index) => ({ atS: 10 + index / 10, role: "even" })),
  ...Array.from({ length: 19 * 38 }, (_, index) => ({ atS: 12 + Math.floor(index / 38) * 5, role: "pulse" })),
];
/** Earlier traffic: the rate was nearly used up. */
const BEFORE = Array.from({ length: 47 }, (_, index) => ({ atS: index / 4.7, role: "even" }));
const BELOW = Array.from({ length: 282 }, (_, index) => ({ atS: 65 + index / 4.7, role: "even" }));
const WARM = [{ atS: 0, role: "warm-up" }];

const standstill = (forS: number) => fc.double({ min: 0, max: 90, noNaN: true }).map((atS) => ({ atS, forS }));
const disturbance = fc.oneof(
  ...[0.2, 1, 6].flatMap((forS) => [
    standstill(forS).map((gateway) => ({ gateway })),
    standstill(forS).map((harness) => ({ harness })),
  ]),
);
const offset = fc.double({ min: -60, max: 0, noNaN: true });

const brokenIn = (findings: readonly { readonly outcome: string; readonly name: string }[]) =>
  findings.filter(({ outcome }) => outcome === "broken").map(({ name }) => name);

describe("a conformant limiter passes despite a stall, its own or ours", () => {
  test.each(LIMITERS)("over the limit: %s", (_name, make) => {
    fc.assert(
      fc.property(disturbance, offset, (stopped, offsetS) => {
        const facts = play([...BEFORE, ...OVERLOAD], make(offsetS), stopped, "over-rate-limit");
        expect(brokenIn(judgeOverTheLimit(facts, LIMITS, true))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test.each(LIMITERS)("at the limit: %s", (_name, make) => {
    fc.assert(
      fc.property(disturbance, offset, (stopped, offsetS) => {
        const all = play([...WARM, ...BELOW], make(offsetS), stopped, "at-rate-limit");
        const facts = all.filter(({ role }) => role === "even");
        expect(brokenIn(judgeAtTheLimit(facts, all, { rpm: RPM, inFlight: 64 }))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

test("a limiter that admits a whole pulse, or too much, is found", () => {
  const denial = sent(0, { outcome: "denied", what: "rate_limit_exceeded", status: 429 });
  const until = (count: number) => Array.from({ length: count }, (_, index) => sent(1 + index / 10));
  const pulse = (admitted: number) =>
    Array.from({ length: 38 }, (_, index) => (index < admitted ? sent(35) : { ...denial, ...at(35) }));
  const at = (atS: number) => ({ sentUs: ORIGIN_US + atS * 1e6, headUs: ORIGIN_US + atS * 1e6 + 1_000 });
  const judged = (facts: readonly Observation[]) =>
    brokenIn(judgeOverTheLimit([denial, ...facts, sent(80)], LIMITS, true));
  expect(judged([...until(280), ...pulse(38)])).toEqual(["rate.exceeded"]);
  expect(judged([...until(280), ...pulse(20)])).toEqual([]);
  const play95 = (limiter: RateLimiter) =>
    brokenIn(judgeOverTheLimit(play([...BEFORE, ...OVERLOAD], limiter, {}, "over-rate-limit"), LIMITS, true));
  expect(play95(slidingLog(RPM * 1.2))).toContain("rate.exceeded");
  expect(play95(slidingLog(RPM))).toEqual([]);
});

test("only a burst that arrived when little of the limit was left decides that the limit holds", () => {
  const even = OVERLOAD.filter(({ role }) => role === "even");
  const alone = play([...BEFORE, ...even], slidingLog(RPM), {}, "over-rate-limit");
  const secondOf = (one: Observation | undefined) => ((one?.sentUs ?? 0) - ORIGIN_US) / 1e6;
  const burstAt = (atS: number) => Array.from({ length: 18 }, () => ({ atS, role: "pulse" }));
  const outcomeOf = (due: typeof OVERLOAD, limiter = slidingLog(RPM), adaptive = true) =>
    judgeOverTheLimit(play([...BEFORE, ...due], limiter, {}, "over-rate-limit"), LIMITS, adaptive).find(
      ({ name }) => name === "rate.exceeded",
    )?.outcome;
  expect(outcomeOf(even)).toBe("undecided");
  // Long after the limit was reached.
  const longAfter = alone.findLast(
    ({ outcome }, index) => outcome === "denied" && alone[index + 9]?.outcome === "denied",
  );
  expect(outcomeOf([...even, ...burstAt(secondOf(longAfter) + 0.05)])).toBe("undecided");
  const last = alone.findLast(({ outcome }, index) => outcome === "admitted" && alone[index + 1]?.outcome === "denied");
  expect(outcomeOf([...even, ...burstAt(secondOf(last) - 0.05)])).toBe("met");
  // A schedule that was fixed in advance does not wait for a limit, and a gateway that counts denied requests never gets near it.
  expect(outcomeOf(even, slidingLog(RPM), false)).toBe("met");
  expect(outcomeOf(even, slidingLog(RPM / 2))).toBe("met");
});

test("a denial below the limit is found even if other responses were late", () => {
  const facts = [...WARM, ...BELOW].map(({ atS, role }, index) =>
    sent(atS, {
      role,
      ...(index === 200 ? { outcome: "denied", what: "rate_limit_exceeded", status: 429 } : {}),
      ...(index === 20 ? { headUs: ORIGIN_US + (atS + 6) * 1e6 } : {}),
    }),
  );
  expect(brokenIn(judgeAtTheLimit(facts.slice(1), facts, { rpm: RPM, inFlight: 64 }))).toEqual([
    "rate.denied-below-limit",
  ]);
});

describe("what we read late", () => {
  const limit = 4;
  /** Four streams from 0 to 2 s, and two denied at the same time. */
  const streams = [
    ...Array.from({ length: limit }, () => ({
      ...sent(0, { role: "wave", stream: true }),
      headUs: ORIGIN_US + 50_000,
    })),
    sent(0, { role: "wave", outcome: "denied", what: "concurrency_limit_exceeded", status: 429 }),
  ];
  const endingAt = (endS: number) =>
    streams.map((one) => (one.outcome === "admitted" ? { ...one, endUs: ORIGIN_US + endS * 1e6 } : one));
  // Sent when the process resumed, before the ends of the streams were read.
  const late = sent(6.5, { role: "extra" });

  test("ends that piled up while this process stalled do not count as running streams", () => {
    const facts = [...endingAt(6.52), late];
    const stalledSpans = [[ORIGIN_US + 0.5e6, ORIGIN_US + 6.5e6]] as const;
    expect(brokenIn(judgeConcurrencyLimit(facts, { all: facts, limit, stalledSpans }))).toEqual([]);
    // The same without a stall is one too many.
    const held = [...endingAt(7.5), late];
    expect(brokenIn(judgeConcurrencyLimit(held, { all: held, limit, stalledSpans: [] }))).toEqual([
      "concurrency.exceeded",
    ]);
  });

  test("streams that arrived in one piece after a stall were not buffered", () => {
    const long = { id: "long", durationMs: 2_000, longestGapMs: 60, spread: { chat: 0.9, messages: 0.9 } };
    const wave = (firstS: number, endS: number) =>
      Array.from({ length: 8 }, () =>
        sent(0, {
          ...{ role: "wave", stream: true, tokens: 40 },
          ...{ firstTokenUs: ORIGIN_US + firstS * 1e6, endUs: ORIGIN_US + endS * 1e6 },
        }),
      );
    const of = (facts: readonly Observation[], stalledSpans: readonly (readonly [number, number])[]) =>
      judgeService(facts, long, { stalledSpans: [...stalledSpans], late: [...stalledSpans], busy: [] }).find(
        ({ name }) => name === "streams.buffered",
      )?.outcome;
    expect(of(wave(1.99, 2), [])).toBe("broken");
    expect(of(wave(6.1, 6.11), [])).toBe("undecided");
    expect(of(wave(1.99, 2), [[ORIGIN_US + 0.2e6, ORIGIN_US + 1.95e6]])).toBe("undecided");
  });
});
