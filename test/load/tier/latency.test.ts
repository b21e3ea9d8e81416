import { describe, expect, test } from "vitest";
import { describeObserved } from "../../../reports/text/index.ts";
import type { Observation } from "../../../src/judging/index.ts";
import { DEFAULT_ALLOW, judgeExternal } from "../../../src/load/index.ts";
import { judgeOutliers, judgeSlowdown } from "../../../src/load/tier/judge/judge-latency.ts";
import type { StallRecord } from "../../../src/load/tier/judge/own-stalls.ts";
import { loadRun } from "../../support/load-records.ts";
import { sent } from "../support/observations.ts";

const NO_STALLS: StallRecord = { stalledSpans: [], late: [], busy: [] };
const ORIGIN_US = 1_000_000_000;

/** A request that was sent at a second of the run and took this long. */
function took(atS: number, ms: number, more: Partial<Observation> = {}): Observation {
  const one = sent(atS, more);
  return { ...one, headUs: one.sentUs + ms * 1_000, endUs: one.sentUs + ms * 1_000 };
}

const DENIED = { outcome: "denied", what: "rate_limit_exceeded", status: 429 } as const;
const OVER = { phase: "over-rate-limit" } as const;
const kind = (index: number) => ({ dialect: index % 2 === 0 ? "chat" : "messages", stream: index % 4 > 1 }) as const;
/** Two requests of each kind, as in the warm-up, and then requests at the rate limit. */
const EARLIER = [
  ...Array.from({ length: 8 }, (_, index) =>
    took(index / 4, 0.8, { phase: "warm-up", role: "warm-up", ...kind(index) }),
  ),
  ...Array.from({ length: 90 }, (_, index) => took(10 + index / 5, 0.8, kind(index))),
];
/** A minute and a half over the limit from the thirtieth second on, ten requests per second, most of which are denied. */
const overload = (msAt: (atS: number, index: number) => number) =>
  Array.from({ length: 900 }, (_, index) => {
    const atS = 30 + index / 10;
    return took(atS, msAt(atS, index), { ...OVER, ...kind(index), ...(index % 60 < 20 ? {} : DENIED) });
  });
const during = (fromS: number, untilS: number, ms: number) => (atS: number) =>
  atS >= fromS && atS < untilS ? ms + 0.8 : 0.8;

function judged(
  phase: readonly Observation[],
  heldUp: StallRecord = NO_STALLS,
  earlier: readonly Observation[] = EARLIER,
) {
  const options = { all: [...earlier, ...phase], heldUp, originUs: ORIGIN_US };
  const [slowed] = judgeSlowdown(phase, options);
  const [outliers] = judgeOutliers(phase, options);
  return { slowed, outliers };
}

describe("a gateway that becomes slow in the middle of a phase", () => {
  test.each([
    ["for fifteen seconds", during(60, 75, 3_000)],
    ["for long enough to change the median of the phase as well", during(55, 95, 3_000)],
    ["from the start of the phase", during(40, 120, 3_000)],
    ["for ten seconds by less than a factor of 20", during(60, 72, 1_500)],
  ])("%s", (_name, msAt) => {
    const { slowed } = judged(overload(msAt));
    expect(slowed).toMatchObject({ outcome: "broken", weight: "warn", requirements: ["STEADY-LATENCY"] });
  });

  test("the finding has the latency before and during the slowdown, its time and its requests", () => {
    const { slowed } = judged(overload(during(60, 75, 3_000)));
    expect(slowed && describeObserved(slowed.observed)).toBe(
      "every kind: p50 0.8 ms before, 3,001 ms from second 60 to 78 of the run, 150 of 900 requests (17 %)",
    );
  });

  test("in only one dialect and mode", () => {
    const slowKind = (atS: number, index: number) => (index % 4 === 3 ? during(60, 75, 3_000)(atS) : 0.8);
    const { slowed } = judged(overload(slowKind));
    expect(slowed).toMatchObject({
      outcome: "broken",
      observed: facts(expect.stringMatching(/^messages streams: p50 0\.8 ms/)),
    });
  });

  test("although one request in eight is still fast", () => {
    expect(judged(overload((atS, index) => (index % 8 === 0 ? 0.8 : during(60, 75, 3_000)(atS)))).slowed?.outcome).toBe(
      "broken",
    );
  });

  test("for every second request: found as outliers", () => {
    const half = overload((atS, index) => (index % 2 === 0 ? 0.8 : during(60, 80, 3_000)(atS)));
    const { outliers } = judged(half, NO_STALLS, EARLIER);
    expect(outliers).toMatchObject({ outcome: "broken", weight: "warn" });
  });

  test("for denials that no earlier phase had: compared with the first ones", () => {
    const denied = (msAt: (atS: number) => number) => overload(msAt).map((one) => ({ ...one, ...DENIED }));
    expect(judged(denied(during(60, 75, 3_000))).slowed?.outcome).toBe("broken");
    expect(judged(denied(() => 1_500)).slowed?.outcome).toBe("met");
  });
});

describe("a sound gateway", () => {
  test("noise, one slow second, a slow first request", () => {
    const noisy = judged(overload((_atS, index) => ((index * 37) % 101) ** 2 / 30));
    expect([noisy.slowed?.outcome, noisy.outliers?.outcome]).toEqual(["met", "met"]);
    const second = judged(overload(during(60, 61, 1_200)));
    expect([second.slowed?.outcome, second.outliers?.outcome]).toEqual(["met", "met"]);
    const first = [took(0, 4_000, { phase: "warm-up" }), ...EARLIER.slice(1)];
    const after = judged(
      overload(() => 0.8),
      NO_STALLS,
      first,
    );
    expect([after.slowed?.outcome, after.outliers?.outcome]).toEqual(["met", "met"]);
  });

  test.each([0.2, 1, 6])("that is stopped for %d s, and later for a second", (forS) => {
    const stop = (atS: number, fromS: number, s: number) =>
      atS >= fromS && atS < fromS + s ? (fromS + s - atS) * 1_000 : 0;
    const { slowed, outliers } = judged(overload((atS) => 0.8 + stop(atS, 60, forS) + stop(atS, 90, 1)));
    expect([slowed?.outcome, outliers?.outcome]).toEqual(["met", "met"]);
  });

  test("a kind that was always slow is compared with itself", () => {
    const slow = (list: readonly Observation[]) =>
      list.map((one) => (one.stream ? { ...one, endUs: one.sentUs + 3_000_000 } : one));
    expect(judged(slow(overload(() => 0.8)), NO_STALLS, slow(EARLIER)).slowed?.outcome).toBe("met");
  });
});

describe("the delay of Gauntlet itself", () => {
  const fault = overload(during(60, 75, 3_000));
  const stretch = [ORIGIN_US + 59e6, ORIGIN_US + 79e6] as const;

  test("a busy machine alone excuses nothing", () => {
    expect(judged(fault, { stalledSpans: [], late: [], busy: [stretch] }).slowed?.outcome).toBe("broken");
  });

  test("is subtracted, and nothing else", () => {
    // Late for a tenth of the time: 300 of 3,000 ms.
    const tenth = Array.from({ length: 200 }, (_, index) => {
      const atUs = ORIGIN_US + 59e6 + index * 100_000;
      return [atUs, atUs + 10_000] as const;
    });
    expect(judged(fault, { stalledSpans: [], late: tenth, busy: [stretch] }).slowed).toMatchObject({
      outcome: "broken",
      observed: facts(expect.stringMatching(/p50 0\.8 ms before, 2,70[01] ms from second 60/)),
    });
    expect(judged(fault, { stalledSpans: [stretch], late: [stretch], busy: [] }).slowed?.outcome).toBe("met");
  });
});

describe("outliers", () => {
  const usual = Array.from({ length: 300 }, (_, index) => took(10 + index / 10, 20));
  const outliers = (slow: readonly Observation[], heldUp = NO_STALLS) =>
    judged([...usual, ...slow], heldUp, []).outliers;

  test("three requests that take far longer than their kind did are a warning, two are not", () => {
    expect(outliers([took(12, 3_000), took(20, 3_000)])?.outcome).toBe("met");
    expect(outliers([took(12, 3_000), took(20, 3_000), took(28, 3_000)])).toMatchObject({
      outcome: "broken",
      weight: "warn",
    });
  });

  test("many at the same moment count once, and a moment is short", () => {
    const from = (atS: number, count: number) =>
      Array.from({ length: count }, (_, index) => took(atS + index / 5, 2_000));
    expect(outliers(from(20, 20))?.outcome).toBe("met");
    expect(outliers(from(12, 80))?.outcome).toBe("broken");
  });

  test("a kind that is slow as a whole has no outliers", () => {
    const slowKind = Array.from({ length: 100 }, (_, index) => took(10 + index / 4, 3_000, { stream: true }));
    expect(outliers(slowKind)?.outcome).toBe("met");
  });
});

test("a schedule that another engine sent is judged by the same rule", () => {
  const origin = (list: readonly Observation[]) =>
    list.map((one) => ({
      ...one,
      ...{ dueUs: one.dueUs - ORIGIN_US, sentUs: one.sentUs - ORIGIN_US, endUs: one.endUs - ORIGIN_US },
      headUs: undefined,
    }));
  const runOf = (msAt: (atS: number) => number) =>
    judgeExternal({
      workload: {
        ...{ name: "tier", written: null, retryAfter: "compliant" },
        allow: { ...DEFAULT_ALLOW, deniedShare: 1 },
      },
      ...{ limits: { rpm: 300, inFlight: 64 }, target: { headers: { reason: "X-Reason" }, contract: {} } as never },
      plan: {
        phases: [
          { name: "warm-up", title: "", startMs: 0, endMs: 5_000 },
          { name: "at-rate-limit", title: "", startMs: 5_000, endMs: 30_000 },
          { name: "over-rate-limit", title: "", startMs: 30_000, endMs: 120_000 },
        ],
        ...{ groups: [], remarks: [] },
      },
      observations: origin([...EARLIER, ...overload(msAt)]),
      ...{ dropped: new Map(), engine: "k6", instances: [], keys: ["valid"], startedAtMs: 0, interrupted: false },
      generator: loadRun("tier").generator,
    }).run.phases.find(({ name }) => name === "over-rate-limit");
  const slowed = (phase: ReturnType<typeof runOf>) => phase?.findings.find(({ name }) => name === "latency.slowed");
  expect(slowed(runOf(during(60, 75, 3_000)))).toMatchObject({
    outcome: "broken",
    observed: facts(expect.stringMatching(/3,001 ms from second 60 to 78 of the run/)),
  });
  expect(slowed(runOf(() => 0.8))?.outcome).toBe("met");
});

/** Observed facts. */
function facts(text: unknown): object {
  return { kind: "facts", text };
}
