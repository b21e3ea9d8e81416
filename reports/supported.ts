import type { LoadClass, Quantiles } from "../src/record/index.ts";

export type QuantileName = Exclude<keyof Quantiles, "max">;
type WithIntervals = Quantiles & Pick<NonNullable<LoadClass["responseMs"]>, "intervals">;

/** How many independent values support a quantile with a 95 % interval (docs/metrics.md, "Intervals"). */
export const MIN_VALUES: Readonly<Record<QuantileName, number>> = { p50: 6, p90: 36, p95: 72, p99: 368, p999: 3_688 };

/** Whether the sample size supports a quantile; others are not shown. Records without intervals show all. */
export function isSupported({ intervals }: WithIntervals, name: QuantileName): boolean {
  return intervals?.[name] !== null;
}
