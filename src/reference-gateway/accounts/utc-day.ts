const DAY_MS = 86_400_000;

/** @returns whole days since the Unix epoch, in UTC: the number changes at 00:00 UTC and at no other moment. */
export function utcDay(wallMs: number): number {
  return Math.floor(wallMs / DAY_MS);
}
