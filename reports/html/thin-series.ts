import type { LoadSecond, SecondQuantiles } from "../../src/record/index.ts";

/** Maximum number of points in a line: more cannot be distinguished on paper. */
const MAX_POINTS = 500;

export interface Point {
  readonly atS: number;
  readonly offered: number;
  readonly admitted: number;
  readonly denied: number;
  readonly failed: number;
  readonly invalid: number;
  readonly inFlight: number;
  readonly streaming: SecondQuantiles;
  readonly nonStreaming: SecondQuantiles;
  readonly ttft: SecondQuantiles;
}

/**
 * Merges seconds so that a long run stays drawable. Rates are means per second; for in flight and for latency the highest value
 * of each bucket is kept, because readers look for spikes.
 */
export function thin(recorded: readonly LoadSecond[]): { readonly points: readonly Point[]; readonly bucketS: number } {
  const series = withoutGaps(recorded);
  const bucketS = Math.max(1, Math.ceil(series.length / MAX_POINTS));
  const points: Point[] = [];
  for (let from = 0; from < series.length; from += bucketS) {
    const bucket = series.slice(from, from + bucketS);
    const [first] = bucket;
    if (first === undefined) continue;
    const mean = (read: (second: LoadSecond) => number) =>
      bucket.reduce((sum, second) => sum + read(second), 0) / bucket.length;
    points.push({
      atS: first.atS,
      offered: mean(({ offered }) => offered),
      admitted: mean(({ admitted }) => admitted),
      denied: mean(({ denied }) => denied),
      failed: mean(({ failed }) => failed),
      invalid: mean(({ invalid }) => invalid),
      inFlight: Math.max(...bucket.map(({ inFlight }) => inFlight)),
      streaming: highest(bucket.map(({ responseByModeMs }) => responseByModeMs.streaming)),
      nonStreaming: highest(bucket.map(({ responseByModeMs }) => responseByModeMs.nonStreaming)),
      ttft: highest(bucket.map(({ ttftMs }) => ttftMs)),
    });
  }
  return { points, bucketS };
}

/** Merges values in the same way: the highest of each bucket is kept. */
export function thinPoints<T extends { readonly atS: number; readonly value: number | null }>(
  points: readonly T[],
): readonly T[] {
  const size = Math.ceil(points.length / MAX_POINTS);
  if (size <= 1) return points;
  return Array.from({ length: Math.ceil(points.length / size) }, (_, index) => {
    const bucket = points.slice(index * size, (index + 1) * size);
    const height = ({ value }: T) => value ?? Number.NEGATIVE_INFINITY;
    return bucket.reduce((most, point) => (height(point) > height(most) ? point : most));
  });
}

/** Longest gap that is filled second by second; a longer one cannot be within one run. */
const MAX_GAP_S = 3_600;

/** Idle seconds have no entry; a line must not continue across them. */
function withoutGaps(series: readonly LoadSecond[]): LoadSecond[] {
  return series.flatMap((second, index) => {
    const next = series[index + 1];
    const missing = next === undefined ? 0 : Math.round(next.atS - second.atS) - 1;
    const silent = Array.from({ length: Math.max(0, Math.min(missing, MAX_GAP_S)) }, (_, step): LoadSecond => {
      const nothing = { offered: 0, sent: 0, admitted: 0, denied: 0, failed: 0, invalid: 0, dropped: 0 };
      const responseByModeMs = { streaming: null, nonStreaming: null };
      return { ...nothing, atS: second.atS + step + 1, inFlight: 0, responseByModeMs, ttftMs: null };
    });
    return [second, ...silent];
  });
}

function highest(values: readonly SecondQuantiles[]): SecondQuantiles {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const most = (name: "p50" | "p95" | "p99") => Math.max(...known.map((value) => value[name]));
  return { p50: most("p50"), p95: most("p95"), p99: most("p99") };
}
