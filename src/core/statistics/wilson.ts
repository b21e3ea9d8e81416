import { normalQuantile } from "./student-t.ts";

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * Wilson's interval of a share; also valid for small counts and for none.
 *
 * @param of how many were counted; need not be whole if they count as fewer independent ones.
 */
export function wilson({ count, of }: { count: number; of: number }, confidence: number): Interval {
  if (of === 0) return { low: 0, high: 1 };
  const z = normalQuantile((1 + confidence) / 2);
  const share = count / of;
  const middle = share + z ** 2 / (2 * of);
  const spread = z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2));
  const scale = 1 + z ** 2 / of;
  // Exactly 0 and 1 at the ends: with a rounding error, the share could lie outside its interval.
  return {
    low: count === 0 ? 0 : Math.max(0, (middle - spread) / scale),
    high: count === of ? 1 : Math.min(1, (middle + spread) / scale),
  };
}
