import type { RawRequest } from "./raw-request.ts";

/** The gateway's clock minus the instance's, and how far off that can be; ms. */
export interface ClockOffset {
  readonly offsetMs: number;
  readonly uncertaintyMs: number;
}

/** What a response tells of the clock behind it. */
export type DatedResponse = Pick<RawRequest, "dateMs" | "wallMs" | "firstByteMs" | "status">;

/** `Date` has whole seconds. */
const SECOND_MS = 1_000;

/**
 * Brackets the offset of an instance's clock by `Date` headers. The gateway wrote each between the send and the first byte,
 * at some moment of the second that it names, so every answer bounds the offset from both sides; many answers at different
 * parts of a second leave a narrow range.
 *
 * @returns `undefined` without any such header.
 */
export function clockOffset(requests: readonly DatedResponse[]): ClockOffset | undefined {
  let least = Number.NEGATIVE_INFINITY;
  let most = Number.POSITIVE_INFINITY;
  for (const { dateMs, wallMs, firstByteMs, status } of requests) {
    if (dateMs === undefined || status === 0) continue;
    // The wall clock was rounded down: the send was up to a millisecond later.
    least = Math.max(least, dateMs - (wallMs + 1 + firstByteMs));
    most = Math.min(most, dateMs + SECOND_MS - wallMs);
  }
  if (!Number.isFinite(least) || !Number.isFinite(most)) return undefined;
  // Crossed bounds: a header that was written late, or a clock that was set meanwhile. The distance is then the uncertainty.
  return { offsetMs: (least + most) / 2, uncertaintyMs: Math.abs(most - least) / 2 };
}

/** When the instance's test began by its own wall clock: no send can be later than its rounded-down clock says by a millisecond. */
export function beganMs(requests: readonly RawRequest[]): number | undefined {
  if (requests.length === 0) return undefined;
  return requests.reduce((latest, { wallMs, sentMs }) => Math.max(latest, wallMs - sentMs), Number.NEGATIVE_INFINITY);
}
