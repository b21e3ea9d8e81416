import { wilson } from "../../src/core/index.ts";

/** Share of valid requests that may fail by chance, and strays that prove more than that: of few requests one is a large share. */
const STRAY_SHARE = 0.005;
export const MIN_STRAYS = 3;
const CONFIDENCE = 0.95;

/** Whether certainly more than 0.5 % of the valid requests failed. */
export function isAboveStrayShare(count: number, of: number): boolean {
  return count >= MIN_STRAYS && wilson({ count, of }, CONFIDENCE).low > STRAY_SHARE;
}
