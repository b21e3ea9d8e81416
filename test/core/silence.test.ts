import { expect, test } from "vitest";
import { Silence } from "../../src/core/index.ts";

const never = new AbortController().signal;
const PENDING = Symbol("pending");

/** What a promise has come to by the next turns of the event loop. */
const soon = (promise: Promise<void>) =>
  Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 20, PENDING))]);

test("nobody waits where no silence is wanted, or where less than half of it has passed", async () => {
  let idleMs = 1_000_000;
  const silence = new Silence(() => idleMs);
  expect(await soon(silence.respected(never))).toBeUndefined();
  silence.want(1_000);
  idleMs = 499;
  expect(await soon(silence.respected(never))).toBeUndefined();
});

test("a silence that has lasted for half of its time is not broken before it is over, or the run stops", async () => {
  const silence = new Silence(() => 500);
  silence.want(1_000);
  const waiting = silence.respected(never);
  expect(await soon(waiting)).toBe(PENDING);
  silence.end();
  await waiting;
  silence.want(1_000);
  const stop = new AbortController();
  const stopped = silence.respected(stop.signal);
  expect(await soon(stopped)).toBe(PENDING);
  stop.abort();
  await stopped;
});
