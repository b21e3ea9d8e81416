import type { LoadClass, Quantiles } from "../src/record/index.ts";

export type QuantileName = Exclude<keyof Quantiles, "max">;
type WithIntervals = Quantiles & Pick<NonNullable<LoadClass["responseMs"]>, "intervals">;

/** Whether the sample size supports a quantile; others are not shown. Records without intervals show all. */
export function isSupported({ intervals }: WithIntervals, name: QuantileName): boolean {
  return intervals?.[name] !== null;
}
