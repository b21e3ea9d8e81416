import { formatNumber } from "../../src/core/index.ts";

export function duration(ms: number): string {
  if (ms < 1_000) return `${decimal(ms, ms < 10 ? 2 : ms < 100 ? 1 : 0)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 120) return `${decimal(seconds, seconds < 10 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  if (whole < 7_200) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.round((whole % 3_600) / 60)} min`;
}

/** Milliseconds without their unit, rounded to meaningful digits. */
export function ms(value: number): string {
  return decimal(value, value < 10 ? 1 : 0);
}

/** A number as in the other outputs, `1,238.5`; `–` if it is none. @param digits number of decimals. */
export function decimal(value: number, digits = 0): string {
  return Number.isFinite(value) ? formatNumber(value, digits) : "–";
}

export function percent(share: number, digits = 1): string {
  return `${decimal(share * 100, digits)} %`;
}

export function bytes(count: number): string {
  if (count < 1_024) return `${count} B`;
  if (count < 1_048_576) return `${decimal(count / 1_024, 1)} KiB`;
  if (count < 1_073_741_824) return `${decimal(count / 1_048_576, 1)} MiB`;
  return `${decimal(count / 1_073_741_824, 1)} GiB`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${decimal(count)} ${count === 1 ? one : many}`;
}

/** A list of names for a sentence: `a`, `a and b`, `a, b and 3 more`. */
export function enumerate(names: readonly string[], most = 4): string {
  if (names.length > most) return `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
