/** A share or a number of requests that must not be exceeded. */
export interface EventBound {
  /** As written. */
  readonly text: string;
  readonly unit: "share" | "count";
  readonly value: number;
  /** Whether the value itself is allowed. */
  readonly isInclusive: boolean;
}

const WRITTEN = /^\s*(<=|<|=)\s*(\d+(?:\.\d+)?)\s*(%)?\s*$/;

export const BOUND_FORM = 'must be a bound such as "< 0.1 %", "<= 3" or 0';

/** @param written `"< 0.1 %"` of the requests, `"<= 3"` requests, or a number of requests. @returns `undefined` if it is not a valid bound. */
export function parseEventBound(written: string | number): EventBound | undefined {
  if (typeof written === "number")
    return Number.isInteger(written) && written >= 0
      ? { text: written === 0 ? "none" : `at most ${written}`, unit: "count", value: written, isInclusive: true }
      : undefined;
  const [, operator, digits = "", percent] = WRITTEN.exec(written) ?? [];
  const value = Number(digits);
  // "= 5 %" would also forbid fewer.
  if (operator === undefined || (operator === "=" && value !== 0)) return undefined;
  // Nothing is below 0.
  if ((operator === "<" && value === 0) || (percent !== undefined && value > 100)) return undefined;
  const text = written.trim();
  if (percent !== undefined && value > 0)
    return { text, unit: "share", value: value / 100, isInclusive: operator !== "<" };
  return { text, unit: "count", value, isInclusive: operator !== "<" };
}

/** A multiple of a level before the event that must not be exceeded. */
export interface RatioBound {
  /** As written. */
  readonly text: string;
  /** 1.2 for 120 %. */
  readonly value: number;
  readonly isInclusive: boolean;
}

const RATIO = /^\s*(<=|<)\s*(\d+(?:\.\d+)?)\s*(%|x)\s*$/;

export const RATIO_FORM = 'must be a bound such as "<= 120 %" or "<= 3x", above 0';

/** @param written `"<= 120 %"` or `"<= 3x"` of the level before. @returns `undefined` if it is not a valid bound. */
export function parseRatioBound(written: string): RatioBound | undefined {
  const [, operator, digits = "", unit] = RATIO.exec(written) ?? [];
  const value = Number(digits) / (unit === "%" ? 100 : 1);
  return operator === undefined || value === 0
    ? undefined
    : { text: written.trim(), value, isInclusive: operator === "<=" };
}

/** Whether an interval is entirely within a bound, or entirely beyond it; `undefined`: neither. */
export function isWithin(
  { low, high }: { readonly low: number; readonly high: number },
  { value, isInclusive }: RatioBound,
): boolean | undefined {
  if (isInclusive ? low > value : low >= value) return false;
  if (isInclusive ? high <= value : high < value) return true;
  return undefined;
}
