import { expect, test } from "vitest";
import type { Observation } from "../../../src/judging/index.ts";
import { stallsIn } from "../../../src/load/tier/judge/stalls.ts";
import { sent } from "../support/observations.ts";

const NO_STALLS = { stalledSpans: [], late: [], busy: [] };

/** A request this many seconds into the run, whose response began this many ms later. */
function observation(atS: number, ms: number, more: Partial<Observation> = {}): Observation {
  const one = sent(atS, more);
  return { ...one, headUs: one.sentUs + ms * 1_000, endUs: one.sentUs + ms * 1_000 + 1_000 };
}

/** Twenty a second for ten seconds. */
const steady = (ms: (atS: number) => number) =>
  Array.from({ length: 200 }, (_, index) => observation(index / 20, ms(index / 20)));

test("a gateway that responds evenly does not stall, however slow it is", () => {
  expect(
    stallsIn(
      steady(() => 20),
      NO_STALLS,
    ),
  ).toEqual([]);
  expect(
    stallsIn(
      steady(() => 900),
      NO_STALLS,
    ),
  ).toEqual([]);
});

test("a silence in which several requests waited, and which ended for all of them together, is a stall", () => {
  // From 4 to 4.6 s the gateway does not respond; all requests of that time get their responses at its end.
  const stopped = steady((atS) => (atS >= 4 && atS < 4.6 ? (4.6 - atS) * 1_000 : 20));
  const [stall, ...others] = stallsIn(stopped, NO_STALLS);
  expect(stall?.ms).toBeGreaterThan(500);
  expect(others).toEqual([]);
});

test("denials that are always slow are not a stall, even if nothing else gets a response meanwhile", () => {
  const denial = { outcome: "denied", what: "rate_limit_exceeded", status: 429 } as const;
  const pulses = [12, 14, 16, 18].flatMap((atS) => Array.from({ length: 12 }, () => observation(atS, 500, denial)));
  expect(stallsIn([...steady(() => 20), ...pulses], NO_STALLS)).toEqual([]);
});

test("only the stall of this process is subtracted from a silence", () => {
  const stopped = steady((atS) => (atS >= 4 && atS < 9 ? (9 - atS) * 1_000 : 20));
  const stalledFor = (s: number) => [[1_000_000_000 + 4.5e6, 1_000_000_000 + (4.5 + s) * 1e6] as const];
  const [stall] = stallsIn(stopped, { stalledSpans: stalledFor(2), late: [], busy: [] });
  expect(stall?.ms).toBeGreaterThan(2_700);
  expect(stall?.ms).toBeLessThan(3_300);
  expect(stallsIn(stopped, { stalledSpans: stalledFor(4.5), late: [], busy: [] })).toEqual([]);
  // A busy machine does not explain a silence of five seconds.
  const busy = [[1_000_000_000, 1_000_000_000 + 20e6] as const];
  expect(stallsIn(stopped, { stalledSpans: [], late: [], busy })).toHaveLength(1);
});
