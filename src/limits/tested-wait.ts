import type { Observation } from "../judging/index.ts";
import { WINDOW_OVER_MS } from "./admitted-in-window.ts";

/** A longer wait than any one-minute rate can require is not tested, ms. */
const MAX_WAIT_MS = 65_000;
/** Tolerance for timers and the clocks of two machines, ms. */
const CLOCKS_MS = 50;

/** How long to send nothing after a denial, to test the wait that it requested. */
interface WaitToTest {
  /** The requested wait, ms; `null` if the denial requested no usable one, or one that is too long to test. */
  readonly waitMs: number | null;
  /** Time left to wait, ms: the rest of `waitMs`, or of a rate window if it is `null`. */
  readonly restMs: number;
}

/** The wait is counted from the arrival of the denial. */
export function waitToTest(
  { endUs, retryAfterWaitMs }: Pick<Observation, "endUs" | "retryAfterWaitMs">,
  nowUs: number,
): WaitToTest {
  const waitMs = retryAfterWaitMs !== undefined && retryAfterWaitMs <= MAX_WAIT_MS ? retryAfterWaitMs : null;
  const elapsedMs = (nowUs - endUs) / 1_000;
  return { waitMs, restMs: Math.max(0, (waitMs ?? WINDOW_OVER_MS) - elapsedMs) + CLOCKS_MS };
}

/** A wait below this share of the one that the main kind of request got at about the same time is tested separately. */
const MUCH_SHORTER = 0.5;
/** The longest wait that is tested separately, ms. */
const MAX_SEPARATE_WAIT_MS = 6_000;

export const isShortWait = ({ retryAfterWaitMs }: Pick<Observation, "retryAfterWaitMs">): boolean =>
  retryAfterWaitMs !== undefined && retryAfterWaitMs <= MAX_SEPARATE_WAIT_MS;

/** The denial with the shortest wait, if that is much shorter than `usualMs`. */
export function muchShorterWait<T extends Pick<Observation, "retryAfterWaitMs">>(
  denials: readonly T[],
  usualMs: number | undefined,
): T | undefined {
  const isMuchShorter = ({ retryAfterWaitMs = 0 }: T) =>
    retryAfterWaitMs < (usualMs ?? Number.POSITIVE_INFINITY) * MUCH_SHORTER;
  return denials
    .filter((one) => isShortWait(one) && isMuchShorter(one))
    .sort((a, b) => (a.retryAfterWaitMs ?? 0) - (b.retryAfterWaitMs ?? 0))[0];
}
