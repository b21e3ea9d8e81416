import { describe, expect, test } from "vitest";
import { ConcurrencyLimiter } from "../../src/reference-gateway/limiters/concurrency-limiter.ts";
import { fixedWindow } from "../../src/reference-gateway/limiters/fixed-window.ts";
import { paced } from "../../src/reference-gateway/limiters/paced.ts";
import type { RateLimiter } from "../../src/reference-gateway/limiters/rate-limiter.ts";
import { slidingLog } from "../../src/reference-gateway/limiters/sliding-log.ts";
import { tokenBucket } from "../../src/reference-gateway/limiters/token-bucket.ts";

const S = 1_000_000;

/** Sends one request at each time, in seconds. @returns for each: "ok", or the seconds it would have to wait. */
function send(limiter: RateLimiter, times: readonly number[]): (string | number)[] {
  return times.map((seconds) => {
    const waitUs = limiter.waitUs(seconds * S);
    if (waitUs > 0) return Math.round((waitUs / S) * 1_000) / 1_000;
    limiter.count(seconds * S);
    return "ok";
  });
}

const times = (count: number, seconds: number) => Array.from({ length: count }, () => seconds);

describe("sliding log", () => {
  test.each([
    ["admits up to the limit", [0, 10, 20, 30], ["ok", "ok", "ok", 30]],
    [
      "frees each place a minute after it was taken",
      [0, 10, 20, 59.9, 60, 60, 70],
      ["ok", "ok", "ok", 0.1, "ok", 10, "ok"],
    ],
    ["starts afresh after a quiet minute", [0, 0, 0, 61, 61, 61, 61], ["ok", "ok", "ok", "ok", "ok", "ok", 60]],
  ])("%s", (_name, at, expected) => {
    expect(send(slidingLog(3), at)).toEqual(expected);
  });

  test("never holds more than the limit in any minute", () => {
    const limiter = slidingLog(50);
    const admitted: number[] = [];
    for (let at = 0; at < 300; at += 0.31) if (send(limiter, [at])[0] === "ok") admitted.push(at);
    const worst = Math.max(...admitted.map((start) => admitted.filter((at) => at >= start && at < start + 60).length));
    expect(worst).toBe(50);
    expect(admitted.length).toBe(250);
  });
});

describe("fixed window", () => {
  test.each([
    ["starts afresh at its edge", [50, 50, 50, 50, 60, 60, 60, 60], ["ok", "ok", "ok", 10, "ok", "ok", "ok", 60]],
    ["counts from the edge, not from the first request", [30, 59, 59.5, 59.75], ["ok", "ok", "ok", 0.25]],
  ])("%s", (_name, at, expected) => {
    expect(send(fixedWindow(3), at)).toEqual(expected);
  });

  test("its windows begin at the origin", () => {
    expect(send(fixedWindow(1, 15 * S), [20, 74, 75])).toEqual(["ok", 1, "ok"]);
  });
});

describe("token bucket", () => {
  test("admits the burst and refills evenly", () => {
    expect(send(tokenBucket(60, 3), [...times(4, 0), 0.5, 1, 1])).toEqual(["ok", "ok", "ok", 1, 0.5, "ok", 1]);
  });

  test("holds no more than the burst after a long rest", () => {
    expect(send(tokenBucket(60, 2), times(3, 600))).toEqual(["ok", "ok", 1]);
  });

  test("takes the limit for the burst when none is given, and never more", () => {
    expect(tokenBucket(5).remaining(0)).toBe(5);
    expect(tokenBucket(5, 50).remaining(0)).toBe(5);
  });
});

describe("paced", () => {
  test("admits one request per interval", () => {
    expect(send(paced(60, 0), [0, 0.5, 1, 1.2, 2])).toEqual(["ok", 0.5, "ok", 0.8, "ok"]);
  });

  test("admits requests that are early by less than the tolerance", () => {
    expect(send(paced(60, 50_000), [0, 0.96, 1.92, 2.88])).toEqual(["ok", "ok", 0.03, "ok"]);
  });

  test("saves nothing up", () => {
    expect(send(paced(60, 0), [0, 600, 600])).toEqual(["ok", "ok", 1]);
  });
});

describe.each([
  ["sliding log", () => slidingLog(20)],
  ["fixed window", () => fixedWindow(20)],
  ["token bucket", () => tokenBucket(20, 5)],
  ["paced", () => paced(20)],
])("%s", (_name, make) => {
  test("admits a request that waited exactly as long as its timeout", () => {
    const limiter = make();
    let at = 0;
    for (let turn = 0; turn < 100; turn += 1) {
      const waitUs = limiter.waitUs(at);
      expect(limiter.waitUs(at + waitUs)).toBe(0);
      at += waitUs;
      limiter.count(at);
    }
  });

  test("states the correct remaining count", () => {
    const limiter = make();
    const remaining = limiter.remaining(0);
    for (let turn = 0; turn < remaining; turn += 1) {
      expect(limiter.waitUs(0)).toBe(0);
      limiter.count(0);
    }
    expect(limiter.remaining(0)).toBe(0);
    expect(limiter.waitUs(0)).toBeGreaterThan(0);
  });
});

test("a lease ends once, however often it is released", () => {
  const inFlight = new ConcurrencyLimiter(2);
  const first = inFlight.take(5 * S);
  inFlight.take(3 * S);
  expect([inFlight.full, inFlight.held, inFlight.earliestEndUs()]).toEqual([true, 2, 3 * S]);
  first.release();
  first.release();
  expect([inFlight.full, inFlight.held, inFlight.peak]).toEqual([false, 1, 2]);
});

describe("a limit that is changed", () => {
  const limiters = [
    ["sliding log", slidingLog(3)],
    ["fixed window", fixedWindow(3)],
    ["token bucket", tokenBucket(3)],
  ] as const;

  test.each(limiters)("%s: raised, what was counted still counts", (_name, limiter) => {
    expect(send(limiter, times(4, 1)).slice(0, 3)).toEqual(["ok", "ok", "ok"]);
    expect(limiter.waitUs(1 * S)).toBeGreaterThan(0);
    const raised = limiter.changed(5, 1 * S);
    expect(raised.limitPerMinute).toBe(5);
    const [first, second, third] = send(raised, times(3, 1));
    expect([first, second, typeof third]).toEqual(["ok", "ok", "number"]);
  });

  test.each([
    ["sliding log", slidingLog(5)],
    ["fixed window", fixedWindow(5)],
    ["token bucket", tokenBucket(5)],
  ] as const)("%s: lowered below what was counted, it denies", (_name, limiter) => {
    send(limiter, times(4, 1));
    expect(limiter.changed(2, 1 * S).waitUs(1 * S)).toBeGreaterThan(0);
    expect(limiter.changed(2, 1 * S).remaining(1 * S)).toBe(0);
  });

  test("paced: the next request is admitted as soon as the new limit allows", () => {
    const slow = paced(6, 0);
    expect(send(slow, [0, 1])).toEqual(["ok", 9]);
    expect(send(slow.changed(60, 1 * S), [1, 2])).toEqual([1, "ok"]);
  });
});
