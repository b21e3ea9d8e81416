import type { RawRequest } from "./raw-request.ts";

/** The gateway's clock minus the instance's, and the maximum error of that; ms. */
export interface ClockOffset {
  readonly offsetMs: number;
  readonly uncertaintyMs: number;
}

/** What a response reveals about the gateway's clock. */
export type DatedResponse = Pick<RawRequest, "dateMs" | "wallMs" | "firstByteMs" | "status">;

/** `Date` has a resolution of one second. */
const SECOND_MS = 1_000;

/**
 * Brackets the offset of an instance's clock by `Date` headers. The gateway wrote each one between the send and the first byte,
 * within the second that it names, so every response bounds the offset from both sides; many responses at different parts of a
 * second leave a narrow range.
 *
 * @returns `undefined` if no response has this header.
 */
export function clockOffset(requests: readonly DatedResponse[]): ClockOffset | undefined {
  let min = Number.NEGATIVE_INFINITY;
  let max = Number.POSITIVE_INFINITY;
  for (const { dateMs, wallMs, firstByteMs, status } of requests) {
    if (dateMs === undefined || status === 0) continue;
    // The wall clock was rounded down: the send was up to a millisecond later.
    min = Math.max(min, dateMs - (wallMs + 1 + firstByteMs));
    max = Math.min(max, dateMs + SECOND_MS - wallMs);
  }
  if (!Number.isFinite(min) || !Number.isFinite(max)) return undefined;
  // Crossed bounds: a header was written late, or a clock was adjusted meanwhile. The distance is then the uncertainty.
  return { offsetMs: (min + max) / 2, uncertaintyMs: Math.abs(max - min) / 2 };
}

/**
 * When the instance's test began by its own wall clock. That clock is rounded down, so a send is less than a millisecond later
 * than it says.
 */
export function beganMs(requests: readonly RawRequest[]): number | undefined {
  if (requests.length === 0) return undefined;
  return requests.reduce((latest, { wallMs, sentMs }) => Math.max(latest, wallMs - sentMs), Number.NEGATIVE_INFINITY);
}
