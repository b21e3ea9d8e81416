/** A number in a sentence for people: `1,238`, `2,002.9`. @param digits number of decimals. */
export function formatNumber(value: number, digits = 0): string {
  return value.toLocaleString("en", {
    ...{ minimumFractionDigits: digits, maximumFractionDigits: digits },
    // Not `-0.0`.
    signDisplay: "negative",
  });
}

/** The amount of a change with its sign, `+3.9`, `−0.4`; one that rounds to zero has none: `0.0`. @param amount as text. */
export function withSign(change: number, amount: string): string {
  if (!/[1-9]/.test(amount)) return amount;
  return `${change < 0 ? "−" : "+"}${amount}`;
}

/** A relative change: `+3.9 %`, `−0.4 %`; a factor for increases of ten times or more: `×75.4`. @param change 0.039 for 3.9 % more. */
export function formatChange(change: number): string {
  if (change >= MIN_FACTOR - 1) return `×${formatNumber(1 + change, 1)}`;
  return `${withSign(change, formatNumber(Math.abs(change * 100), 1))} %`;
}

/** Percentages of larger changes are hard to read. */
const MIN_FACTOR = 10;

/** A number with only as many decimals as it has, up to a maximum: `64`, `12.5`. */
export function formatRounded(value: number, maxDigits: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: maxDigits, signDisplay: "negative" });
}

/** A number with its noun, and at most one decimal: `1 request`, `1,238 requests`, `0.5 minutes`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${formatRounded(count, 1)} ${count === 1 ? one : many}`;
}
