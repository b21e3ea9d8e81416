/** `2026-11-21 14:09:55 UTC`, independent of time zone and locale. @param iso as `toISOString` writes it. */
export function utc(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}
