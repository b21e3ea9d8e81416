import { describe, expect, test } from "vitest";
import { Throttle } from "../../../src/checks/traffic/throttle.ts";

/** A throttle on a clock that only the test moves. */
function throttleOf(limits: { readonly rpm: number; readonly inFlight: number } | undefined) {
  const clock = { nowMs: 0 };
  const throttle = new Throttle(limits, () => clock.nowMs);
  /** What the next request would wait for; `undefined` if it may be sent at once. */
  const nextWait = async () => {
    const controller = new AbortController();
    let wait: { readonly what: string; readonly forMs: number } | undefined;
    const entered = throttle.enter(controller.signal, (what, forMs) => {
      wait = { what, forMs };
      controller.abort();
    });
    await entered.then(() => throttle.leave()).catch(() => undefined);
    return wait;
  };
  const send = async (count: number) => {
    for (let sent = 0; sent < count; sent++) {
      await throttle.enter(new AbortController().signal);
      throttle.leave();
    }
  };
  return { clock, throttle, nextWait, send };
}

describe("the rate", () => {
  test("is at most 85 % of the limit in one window, and the window ends 61 s after its first request", async () => {
    const { clock, nextWait, send } = throttleOf({ rpm: 20, inFlight: 8 });
    await send(17);
    clock.nowMs = 1_000;
    expect(await nextWait()).toEqual({ what: "rate window", forMs: 60_000 });
    clock.nowMs = 61_000;
    expect(await nextWait()).toBeUndefined();
  });

  test("counts requests that were sent without waiting", async () => {
    const { throttle, nextWait, send } = throttleOf({ rpm: 20, inFlight: 8 });
    await send(16);
    throttle.count();
    expect(await nextWait()).toEqual({ what: "rate window", forMs: 61_000 });
  });

  test("is that of the default tier if the target states none", async () => {
    const { nextWait, send } = throttleOf(undefined);
    await send(254);
    expect(await nextWait()).toBeUndefined();
    expect(await nextWait()).toMatchObject({ what: "rate window" });
  });
});

describe("requests in flight", () => {
  test("are at most 85 % of the limit; the next one is sent when one ends", async () => {
    const { throttle } = throttleOf({ rpm: 6_000, inFlight: 4 });
    const { signal } = new AbortController();
    for (const inFlight of [1, 2, 3]) expect(await throttle.enter(signal)).toBe(inFlight);
    let isIn = false;
    const fourth = throttle.enter(signal).then(() => {
      isIn = true;
    });
    await new Promise(setImmediate);
    expect(isIn).toBe(false);
    throttle.leave();
    await fourth;
  });

  test("are half as many after a concurrency denial", async () => {
    const { throttle } = throttleOf({ rpm: 6_000, inFlight: 10 });
    const { signal } = new AbortController();
    throttle.slowDown("concurrency_limit_exceeded", 0, 0);
    for (const inFlight of [1, 2, 3, 4]) expect(await throttle.enter(signal)).toBe(inFlight);
    let isIn = false;
    const fifth = throttle.enter(signal).then(() => {
      isIn = true;
    });
    await new Promise(setImmediate);
    expect(isIn).toBe(false);
    throttle.leave();
    await fifth;
  });

  test("that wait are released by an abort", async () => {
    const { throttle } = throttleOf({ rpm: 6_000, inFlight: 1 });
    const controller = new AbortController();
    await throttle.enter(controller.signal);
    const second = throttle.enter(controller.signal);
    controller.abort(new Error("over"));
    await expect(second).rejects.toThrow("over");
  });
});

describe("after a rate denial", () => {
  test("it waits for the Retry-After, then sends evenly, and half as fast after every further denial", async () => {
    const { clock, throttle, nextWait, send } = throttleOf({ rpm: 71, inFlight: 8 });
    throttle.slowDown("rate_limit_exceeded", 2_000, 0);
    expect(await nextWait()).toEqual({ what: "Retry-After", forMs: 2_000 });
    clock.nowMs = 2_000;
    await send(1);
    expect(await nextWait()).toEqual({ what: "rate window", forMs: 1_000 });
    clock.nowMs = 3_000;
    throttle.slowDown("rate_limit_exceeded", 0, 2_500);
    expect(await nextWait()).toEqual({ what: "rate window", forMs: 1_000 });
  });

  test("one that was sent before the last slowdown says nothing new", async () => {
    const { clock, throttle } = throttleOf({ rpm: 60, inFlight: 8 });
    clock.nowMs = 1_000;
    for (let denial = 0; denial < 8; denial++) throttle.slowDown("rate_limit_exceeded", 0, 500);
    expect(throttle.isUnusable).toBe(false);
  });

  test("a wait of seconds shows the capacity of a window whose limit nobody stated", async () => {
    const { clock, throttle, nextWait, send } = throttleOf(undefined);
    await send(40);
    clock.nowMs = 1_000;
    throttle.slowDown("rate_limit_exceeded", 30_000, 900);
    expect(await nextWait()).toEqual({ what: "rate window", forMs: 60_000 });
    clock.nowMs = 61_000;
    await send(34);
    expect(await nextWait()).toMatchObject({ what: "rate window" });
  });

  test.each([
    [4, false],
    [5, true],
  ])("%i in a row make the account unusable: %s; an admitted request makes it usable again", (denials, isUnusable) => {
    const { clock, throttle } = throttleOf({ rpm: 60, inFlight: 8 });
    for (let denial = 1; denial <= denials; denial++) {
      clock.nowMs = denial * 1_000;
      throttle.slowDown("rate_limit_exceeded", 0, clock.nowMs);
    }
    expect(throttle.isUnusable).toBe(isUnusable);
    throttle.admitted();
    expect(throttle.isUnusable).toBe(false);
  });
});
