import { type LoadClass, type Quantiles, SAMPLES_NEEDED } from "../../src/record/index.ts";

/** Quantiles with the intervals that a class has. */
export type ShownQuantiles = Quantiles & Pick<NonNullable<LoadClass["responseMs"]>, "intervals">;

/** The statistics of a latency that the latency tables show. */
export const SHOWN_STATS = ["p50", "p90", "p95", "p99", "max"] as const;
export type ShownStat = keyof Quantiles;

/** An interval is shown if an end differs from the value by more than this share. */
const WIDE_SHARE = 0.1;

/**
 * A quantile for a reader: `84`; `84 (71–130)` if its 95 % interval is wide; `≈84` if there are too few values for an
 * interval; `–` if there are too few for the quantile.
 *
 * @param count number of requests.
 */
export function quantileText(
  quantiles: ShownQuantiles,
  stat: ShownStat,
  { count, write }: { readonly count: number; readonly write: (value: number) => string },
): string {
  const value = quantiles[stat];
  if (count < SAMPLES_NEEDED[stat]) return "–";
  const interval = stat === "max" ? undefined : quantiles.intervals?.[stat];
  if (interval === null) return `≈${write(value)}`;
  const [low, high] = interval ?? [value, value];
  const isWide = high - value > value * WIDE_SHARE || value - low > value * WIDE_SHARE;
  return isWide && write(low) !== write(high) ? `${write(value)} (${write(low)}–${write(high)})` : write(value);
}

/** Explains the signs of `quantileText` that occur in the texts. @param texts cells of a table. */
export function quantileLegend(texts: readonly string[]): string[] {
  return [
    ...(texts.some((text) => text.includes("(")) ? ["(low–high): 95 % interval, where it is wide"] : []),
    ...(texts.some((text) => text.startsWith("≈")) ? ["≈: too few independent requests for an interval"] : []),
    ...(texts.includes("–")
      ? [
          `–: too few requests to print the percentile (p90 needs ${SAMPLES_NEEDED.p90}, p95 ${SAMPLES_NEEDED.p95}, p99 ${SAMPLES_NEEDED.p99})`,
        ]
      : []),
  ];
}
