/** A number in a sentence for people: `1,238`, `2,002.9`. @param digits number of decimals. */
export function formatNumber(value: number, digits = 0): string {
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A number with only as many decimals as it has, up to a maximum: `64`, `12.5`. */
export function formatRounded(value: number, maxDigits: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: maxDigits });
}

/** A number with its noun, and at most one decimal: `1 request`, `1,238 requests`, `0.5 minutes`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${formatRounded(count, 1)} ${count === 1 ? one : many}`;
}
