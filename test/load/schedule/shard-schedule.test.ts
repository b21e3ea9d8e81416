import fc from "fast-check";
import { expect, test } from "vitest";
import { type Arrivals, scheduleOf } from "../../../src/load/schedule/arrivals.ts";
import { type Arrival, arrivalsOf, type Part } from "../../../src/load/schedule/schedule.ts";
import { shareOf } from "../../../src/load/send/drive.ts";

const ratePerS = fc.double({ min: 0.5, max: 200, noNaN: true });
const durationS = fc.double({ min: 0.1, max: 5, noNaN: true });
const entry = fc.record({
  offsetMs: fc.nat(5_000),
  dialect: fc.constant("chat" as const),
  stream: fc.boolean(),
  promptTokens: fc.constant(10),
  maxTokens: fc.constant(10),
});
const byOffset = (a: { offsetMs: number }, b: { offsetMs: number }) => a.offsetMs - b.offsetMs;

const anyArrivals: fc.Arbitrary<Arrivals> = fc.oneof(
  fc.record({ kind: fc.constant("constant" as const), ratePerS, durationS }),
  fc.record({ kind: fc.constant("poisson" as const), ratePerS, durationS }),
  fc.record({ kind: fc.constant("ramp" as const), fromPerS: ratePerS, toPerS: ratePerS, durationS }),
  fc.record({
    kind: fc.constant("steps" as const),
    steps: fc.array(fc.record({ ratePerS, durationS }), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant("burst" as const),
    size: fc.integer({ min: 1, max: 50 }),
    everyS: fc.double({ min: 0.1, max: 2, noNaN: true }),
    durationS,
  }),
  fc.record({
    kind: fc.constant("replay" as const),
    entries: fc.array(entry, { maxLength: 100 }).map((entries) => entries.sort(byOffset)),
  }),
);
const anyNumber = fc.integer({ min: 1, max: 12 });

function all(arrivals: Arrivals, seed: number, part: Part): Arrival[] {
  const next = arrivalsOf(scheduleOf(arrivals, seed), part);
  const found: Arrival[] = [];
  for (let arrival = next(); arrival !== undefined; arrival = next()) found.push(arrival);
  return found;
}

test("the shares of a schedule are the schedule: every arrival once, at its moment, with its ordinal", () => {
  fc.assert(
    fc.property(anyArrivals, anyNumber, fc.nat(1_000), (arrivals, of, seed) => {
      const whole = all(arrivals, seed, { index: 0, of: 1 });
      const shares = Array.from({ length: of }, (_, index) => all(arrivals, seed, { index, of }));
      expect(shares.flat().sort((a, b) => a.ordinal - b.ordinal)).toEqual(whole);
      expect(whole.map(({ ordinal }) => ordinal)).toEqual(whole.map((_, index) => index));
      const sizes = shares.map(({ length }) => length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      expect(sizes).toEqual(sizes.map((_, index) => shareOf(whole.length, { index, of })));
    }),
  );
});

test("the shares of a number of connections, requests or tokens add up to it exactly", () => {
  fc.assert(
    fc.property(fc.nat(100_000), anyNumber, (number, of) => {
      const shares = Array.from({ length: of }, (_, index) => shareOf(number, { index, of }));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(number);
    }),
  );
});
