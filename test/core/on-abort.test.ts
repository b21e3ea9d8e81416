import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onAbort, sleep } from "../../src/core/index.ts";

test("a signal has one listener, however many wait for it, and all of them are called", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const called: number[] = [];
  const left = onAbort(signal, () => called.push(-1));
  for (let index = 0; index < 50; index++) onAbort(signal, () => called.push(index));
  left[Symbol.dispose]();
  const waits = Array.from({ length: 50 }, () => sleep(600_000, signal));
  expect(getEventListeners(signal, "abort").length).toBe(1);
  controller.abort();
  expect(called).toEqual(Array.from({ length: 50 }, (_, index) => index));
  expect(await Promise.all(waits)).toEqual(Array.from({ length: 50 }, () => false));
});

test("a wait that is not aborted completes, and one that begins after the abort ends immediately", async () => {
  expect(await sleep(1, new AbortController().signal)).toBe(true);
  expect(await sleep(600_000, AbortSignal.abort())).toBe(false);
});
