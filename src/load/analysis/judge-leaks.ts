import { tQuantile } from "../../core/index.ts";
import type { Leak, WatchedSample } from "../../record/index.ts";

/** Minimum number of seconds of load: a process that was just started keeps taking memory for a while. */
const MIN_SAMPLES = 20;
/** The slope is fitted to the means of this many stretches: neighbouring seconds are not independent of each other. */
const STRETCHES = 10;

/** Smallest increase over the start that counts as a change: an absolute amount, or a share of the start. */
const LEAST: Readonly<Record<Leak["unit"], number>> = { bytes: 8 * 2 ** 20, count: 3 };
const MIN_SHARE = 0.05;

/** A resource that the target holds and may not release. */
export interface HeldGauge {
  readonly name: string;
  readonly unit: Leak["unit"];
  /** Points before second 0 show what was held before the load. */
  readonly points: readonly Point[];
}

/**
 * Whether the processes of the target leak: how each resource changed during the load and after it.
 *
 * @param samples those before 0 show what was held before the load. @param endS when the load ended: later samples show whether
 * it is released.
 */
export function judgeLeaks(samples: readonly WatchedSample[], endS: number): Leak[] {
  const held = (name: string, unit: Leak["unit"], of: (sample: WatchedSample) => number | null): Leak => {
    const points = samples.flatMap((sample) => {
      const value = of(sample);
      return value === null ? [] : [{ atS: sample.atS, value }];
    });
    const leak = judgeGauge({ name, unit, points }, endS);
    const isHidden = points.length === 0 && samples.length > 0;
    return isHidden ? { ...leak, message: "cannot be counted: the processes belong to another user" } : leak;
  };
  return [
    held("memory", "bytes", ({ memoryBytes }) => memoryBytes),
    held("open files", "count", ({ openFiles }) => openFiles),
    held("threads", "count", ({ threads }) => threads),
  ];
}

/** The same for one gauge. @param endS see `judgeLeaks`. */
export function judgeGauge({ name, unit, points }: HeldGauge, endS: number): Leak {
  const during = points.filter(({ atS }) => atS >= 0 && atS <= endS);
  const first = (points.findLast(({ atS }) => atS <= 0) ?? points[0])?.value ?? 0;
  const peak = points.reduce((most, { value }) => Math.max(most, value), first);
  const last = points.at(-1)?.value ?? 0;
  const frame = { resource: name, unit, first, peak, last };
  if (during.length < MIN_SAMPLES) {
    const message = `${during.length} samples during the load, ${MIN_SAMPLES} are needed`;
    return { ...frame, verdict: null, perMinute: null, message };
  }
  const tolerance = Math.max(LEAST[unit], MIN_SHARE * first);
  const half = during.slice(Math.floor(during.length / 2));
  const perMinute = slopeOf(half);
  const grownInHalf = perMinute.low * ((endS - (half[0]?.atS ?? endS)) / 60);
  const leak = (verdict: Leak["verdict"], message: string): Leak => ({ ...frame, verdict, perMinute, message });
  if (peak - first <= tolerance) return leak("idle", "did not rise");
  if (last - first <= tolerance) return leak("recovered", "rose, and was released when the load ended");
  // A quarter of what counts as a change over the whole run, because a leak that has just started is still small.
  if (grownInHalf > tolerance / 4) return leak("growth", "was still rising when the load ended");
  return leak("plateau", "rose, and stayed at its new level");
}

interface Point {
  readonly atS: number;
  readonly value: number;
}

/** Least squares through the means of stretches, with the 95 % interval of the slope. */
function slopeOf(points: readonly Point[]): NonNullable<Leak["perMinute"]> {
  const size = points.length / STRETCHES;
  const means = Array.from({ length: STRETCHES }, (_, index) =>
    meanOf(
      points.slice(Math.floor(index * size), Math.max(Math.floor(index * size) + 1, Math.floor((index + 1) * size))),
    ),
  );
  const middle = meanOf(means);
  const spread = means.reduce((sum, { atS }) => sum + (atS - middle.atS) ** 2, 0);
  const slope = means.reduce((sum, { atS, value }) => sum + (atS - middle.atS) * (value - middle.value), 0) / spread;
  const residual = means.reduce(
    (sum, { atS, value }) => sum + (value - middle.value - slope * (atS - middle.atS)) ** 2,
    0,
  );
  const half = tQuantile(0.975, STRETCHES - 2) * Math.sqrt(residual / (STRETCHES - 2) / spread);
  return { value: slope * 60, low: (slope - half) * 60, high: (slope + half) * 60 };
}

function meanOf(points: readonly Point[]): Point {
  const sum = (of: (point: Point) => number) => points.reduce((all, point) => all + of(point), 0) / points.length;
  return { atS: sum(({ atS }) => atS), value: sum(({ value }) => value) };
}
