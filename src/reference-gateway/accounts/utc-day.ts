const DAY_MS = 86_400_000;

/** @returns whole days since the Unix epoch, in UTC: the number only changes at 00:00 UTC. */
export function utcDay(wallMs: number): number {
  return Math.floor(wallMs / DAY_MS);
}
