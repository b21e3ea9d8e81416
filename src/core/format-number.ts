/** A number in a sentence for people: `1,238`, `2,002.9`. @param digits number of decimals. */
export function formatNumber(value: number, digits = 0): string {
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A number with its noun, and at most one decimal: `1 request`, `1,238 requests`, `0.5 minutes`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en", { maximumFractionDigits: 1 })} ${count === 1 ? one : many}`;
}
