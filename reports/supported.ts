import type { LoadClass, Quantiles } from "../src/record/index.ts";

export type QuantileName = Exclude<keyof Quantiles, "max">;
type WithIntervals = Quantiles & Pick<NonNullable<LoadClass["responseMs"]>, "intervals">;

/** Whether the samples support a quantile: one whose interval they do not is not shown. A record without intervals shows all. */
export function isSupported({ intervals }: WithIntervals, name: QuantileName): boolean {
  return intervals?.[name] !== null;
}
