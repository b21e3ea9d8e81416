import { describe, expect, test } from "vitest";
import {
  limitOfUnnamed,
  muchShorterWait,
  peakInFlight,
  queuedAtLimit,
  strayFailures,
  waitToTest,
  wasAtLimit,
} from "../../src/limits/index.ts";

const MS = 1_000;
const admitted = (sentMs: number, endMs: number, bodyMs = sentMs) => ({
  outcome: "admitted" as const,
  what: "",
  status: 200,
  sentUs: sentMs * MS,
  headUs: bodyMs * MS,
  bodyUs: bodyMs * MS,
  endUs: endMs * MS,
});
const denied = (sentMs: number, what = "429") => ({
  ...admitted(sentMs, sentMs + 5, sentMs + 5),
  outcome: "denied" as const,
  what,
  status: 429,
});

describe("at the concurrency limit", () => {
  const held = [admitted(0, 4_000, 200), admitted(100, 5_000, 300)];

  test("is only what was sent after the last held request began and decided before the first ended", () => {
    expect(wasAtLimit(denied(200), held)).toBe(false);
    expect(wasAtLimit(denied(300), held)).toBe(true);
    expect(wasAtLimit(denied(3_999), held)).toBe(false);
  });

  test("a held request counts after a while, even if its body has not begun", () => {
    const silent = [{ ...admitted(0, 4_000), bodyUs: 3_900 * MS }];
    expect(wasAtLimit(denied(1_499), silent)).toBe(false);
    expect(wasAtLimit(denied(1_500), silent)).toBe(true);
  });

  test("requests are queued if most wait for the first held one to end", () => {
    const waiting = admitted(1_000, 4_100, 4_050);
    expect(queuedAtLimit([waiting, denied(1_000)], held)).toEqual([]);
    expect(queuedAtLimit([waiting, waiting, denied(1_000)], held)).toEqual([waiting, waiting]);
  });

  test("one that begins when another ends does not run with it", () => {
    expect(peakInFlight([admitted(0, 10), admitted(10, 20), admitted(15, 18), denied(5)])).toBe(2);
  });

  test("an unnamed 429 is about concurrency if the limit was in flight each time", () => {
    const two = [admitted(0, 100), admitted(0, 100)];
    expect(limitOfUnnamed([...two, denied(50)], 2)).toBe("concurrency");
    expect(limitOfUnnamed([...two, denied(50), denied(200)], 2)).toBe("rate");
    expect(limitOfUnnamed([...two, denied(50, "rate_limit_exceeded")], 2)).toBe("rate");
  });
});

test("few failures among many are strays, and all of a few are not", () => {
  const failed = { outcome: "failed" as const, status: 502 };
  const lost = { outcome: "failed" as const, status: undefined };
  const good = Array.from({ length: 40 }, () => ({ outcome: "admitted" as const, status: 200 }));
  expect(strayFailures([...good, lost])).toEqual([lost]);
  expect(strayFailures([...good, failed, failed])).toEqual([]);
  expect(strayFailures([failed])).toEqual([]);
});

describe("a requested wait", () => {
  test("counts from the arrival of the denial", () => {
    expect(waitToTest({ endUs: 0, retryAfterWaitMs: 3_000 }, 1_000 * MS)).toEqual({ waitMs: 3_000, restMs: 2_050 });
    expect(waitToTest({ endUs: 0, retryAfterWaitMs: 3_000 }, 9_000 * MS)).toEqual({ waitMs: 3_000, restMs: 50 });
  });

  test("that is missing or too long is not tested: a rate window is waited for instead", () => {
    for (const retryAfterWaitMs of [undefined, 65_001])
      expect(waitToTest({ endUs: 0, retryAfterWaitMs }, 0)).toEqual({ waitMs: null, restMs: 61_050 });
  });

  test("is tested separately if it is short and much shorter than the usual one", () => {
    const waits = [9_000, 5_000, 4_000, undefined].map((retryAfterWaitMs) => ({ retryAfterWaitMs }));
    expect(muchShorterWait(waits, 20_000)).toEqual({ retryAfterWaitMs: 4_000 });
    expect(muchShorterWait(waits, 8_000)).toBeUndefined();
    expect(muchShorterWait(waits, undefined)).toEqual({ retryAfterWaitMs: 4_000 });
  });
});
