import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Stretch } from "../../../src/limits/index.ts";
import { overlapUs } from "../../../src/load/tier/judge/own-stalls.ts";
import { Waves } from "../../../src/load/tier/waves.ts";

/** A promise, and what settles it. */
function pending() {
  let settle: { resolve: (value: undefined) => void; reject: (error: Error) => void } | undefined;
  const promise = new Promise<undefined>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...(settle as NonNullable<typeof settle>) };
}

test("judging waits until every stream of every wave has ended, and a failed one counts as ended", async () => {
  const waves = new Waves();
  const [first, second, later] = [pending(), pending(), pending()];
  waves.add([first.promise, second.promise]);
  let isOver = false;
  const over = waves.waitUntilIdle().then(() => {
    isOver = true;
  });
  first.resolve(undefined);
  await setImmediate();
  expect(isOver).toBe(false);
  waves.add([later.promise]);
  second.reject(new Error("connection lost"));
  await setImmediate();
  expect(isOver, "another wave began meanwhile").toBe(false);
  later.resolve(undefined);
  await over;
  await waves.waitUntilIdle();
});

test("the overlap found by binary search equals the sum of the overlaps with all ranges", () => {
  const ranges = fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { maxLength: 40 }).map((steps) => {
    let atUs = 0;
    return steps.map(([gapUs, lengthUs]): Stretch => {
      const fromUs = atUs + gapUs;
      atUs = fromUs + lengthUs;
      return [fromUs, atUs];
    });
  });
  fc.assert(
    fc.property(ranges, fc.nat(900), fc.nat(300), (stretches, fromUs, lengthUs) => {
      const toUs = fromUs + lengthUs;
      const expected = stretches.reduce(
        (sum, [from, to]) => sum + Math.max(0, Math.min(to, toUs) - Math.max(from, fromUs)),
        0,
      );
      expect(overlapUs(fromUs, toUs, stretches)).toBe(expected);
    }),
  );
});
