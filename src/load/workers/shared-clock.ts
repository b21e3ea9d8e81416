import { nowUs } from "../http/load-exchange.ts";

/** `nowUs` begins anew in every thread; the clock of the system behind it is one and the same. */
const OFFSET_US = Number(process.hrtime.bigint()) / 1_000 - nowUs();

/** @param us on the clock of `nowUs` of this thread. @returns microseconds on a clock that all threads share. */
export function toShared(us: number): number {
  return us + OFFSET_US;
}

/** @param us on the shared clock. @returns microseconds on the clock of `nowUs` of this thread. */
export function fromShared(us: number): number {
  return us - OFFSET_US;
}
