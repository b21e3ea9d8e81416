import { formatChange, formatNumber, withSign } from "../core/index.ts";
import type { Trend } from "./trends.ts";

/** A value with its unit. */
export function valueText({ unit }: Pick<Trend, "unit">, value: number | null): string {
  if (value === null) return "–";
  if (unit === "share") return `${toDigits(value * 100, 3)} %`;
  return `${toDigits(value, 4)}${unit === "count" ? "" : ` ${unit}`}`;
}

/** A number with the digits that matter, never fewer than those before the point: `0.0123`, `3.153`, `12,346`. */
const toDigits = (value: number, digits: number): string =>
  value.toLocaleString("en", {
    maximumSignificantDigits: digits,
    maximumFractionDigits: 0,
    roundingPriority: "morePrecision",
  });

/** A change: relative, or the difference for shares and counts. */
export function changeText({ unit }: Pick<Trend, "unit">, change: number | null): string {
  if (change === null || !Number.isFinite(change)) return "–";
  const size = Math.abs(change);
  if (unit === "count") return withSign(change, toDigits(size, 3));
  return unit === "share" ? `${withSign(change, formatNumber(size * 100, 1))} points` : formatChange(change);
}
