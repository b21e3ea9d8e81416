import type { Leak } from "../src/record/index.ts";

/** An amount of a resource: MiB, or a count. */
export function amountText({ resource }: Pick<Leak, "resource">, amount: number): string {
  return resource === "memory" ? `${(amount / 2 ** 20).toFixed(1)} MiB` : String(Math.round(amount * 10) / 10);
}

/** `+2.1 MiB per minute (1.9 … 2.3)`. */
export function slopeText(leak: Leak): string {
  const { perMinute, resource } = leak;
  if (perMinute === null) return "–";
  const of = (value: number) => (resource === "memory" ? (value / 2 ** 20).toFixed(2) : value.toFixed(1));
  const unit = resource === "memory" ? " MiB" : "";
  return `${of(perMinute.value)}${unit} per minute (${of(perMinute.low)} … ${of(perMinute.high)})`;
}
