import type { Leak, WatchedMetric } from "../../src/record/index.ts";

const MIB = 2 ** 20;

/** An amount of a resource: MiB, or a count. */
export function amountText({ unit }: Pick<Leak, "unit">, amount: number): string {
  return unit === "bytes" ? `${(amount / MIB).toFixed(1)} MiB` : String(Math.round(amount * 10) / 10);
}

/** `+2.1 MiB per minute (1.9 … 2.3)`. */
export function slopeText({ perMinute, unit }: Pick<Leak, "perMinute" | "unit">): string {
  if (perMinute === null) return "–";
  const of = (value: number) => (unit === "bytes" ? (value / MIB).toFixed(2) : value.toFixed(1));
  const name = unit === "bytes" ? " MiB" : "";
  return `${of(perMinute.value)}${name} per minute (${of(perMinute.low)} … ${of(perMinute.high)})`;
}

/** The divisor of a series for display, and the resulting unit. */
export function scaleOf({ name, kind }: Pick<WatchedMetric, "name" | "kind">): {
  readonly by: number;
  readonly unit: string;
} {
  const perS = kind === "counter" ? "/s" : "";
  if (/_bytes(?:_total)?$/.test(name)) return { by: MIB, unit: ` MiB${perS}` };
  // Seconds per second: a share of a CPU, or of the time.
  if (/_seconds(?:_total|_sum)?$/.test(name)) return { by: 1, unit: kind === "counter" ? " s/s" : " s" };
  return { by: 1, unit: perS };
}

/** A value of a series for display: `12.5 MiB`, `40/s`. */
export function metricText(series: Pick<WatchedMetric, "name" | "kind">, value: number | undefined): string {
  if (value === undefined) return "–";
  const { by, unit } = scaleOf(series);
  const scaled = value / by;
  const size = Math.abs(scaled);
  const digits = size === 0 || size >= 100 ? 0 : size >= 1 ? 1 : size >= 0.001 ? 3 : 6;
  return `${Number(scaled.toFixed(digits))}${unit}`;
}

/** `28 of 30 scrapes succeeded; the first failure, at 3.0 s: ECONNREFUSED`; empty if all succeeded. */
export function failedScrapes({
  scrapes,
  failed,
  firstFailure,
}: {
  readonly scrapes: number;
  readonly failed: number;
  readonly firstFailure?: { readonly atS: number; readonly message: string } | undefined;
}): string | undefined {
  if (failed === 0 || firstFailure === undefined) return undefined;
  return `${scrapes - failed} of ${scrapes} scrapes succeeded; the first failure, at ${firstFailure.atS.toFixed(1)} s: ${firstFailure.message}`;
}

/** `7 more series were not recorded: http_requests_total (7)`; empty if all were. */
export function droppedSeries(
  dropped: readonly { readonly name: string; readonly series: number }[],
): string | undefined {
  if (dropped.length === 0) return undefined;
  const count = dropped.reduce((sum, { series }) => sum + series, 0);
  const names = dropped.slice(0, MAX_NAMES).map(({ name, series }) => `${name} (${series})`);
  const more = dropped.length > names.length ? `, and ${dropped.length - names.length} more names` : "";
  return `${count} more series were not recorded: ${names.join(", ")}${more}`;
}

const MAX_NAMES = 8;
