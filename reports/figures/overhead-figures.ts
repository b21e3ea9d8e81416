/** A difference in milliseconds: to the microsecond below ten. */
export function differenceText(ms: number): string {
  return `${ms < 0 ? "−" : ""}${Math.abs(ms).toFixed(Math.abs(ms) < 10 ? 3 : 1)}`;
}

/** Size of a prompt as requested: in thousands, not in powers of two. */
export function promptText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${bytes / 1_000} kB` : `${bytes / 1_000_000} MB`;
}
