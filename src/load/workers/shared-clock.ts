import { nowUs } from "../../http/load-client/index.ts";

/** `nowUs` has a different origin in every thread; the system clock behind it is the same. */
const OFFSET_US = Number(process.hrtime.bigint()) / 1_000 - nowUs();

/** @param us on this thread's `nowUs` clock. @returns microseconds on a clock that all threads share. */
export function toShared(us: number): number {
  return us + OFFSET_US;
}

/** @param us on the shared clock. @returns microseconds on this thread's `nowUs` clock. */
export function fromShared(us: number): number {
  return us - OFFSET_US;
}
