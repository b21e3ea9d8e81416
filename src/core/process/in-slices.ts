import { setImmediate as nextTurn } from "node:timers/promises";

/** How long work may block the event loop, ms: signals, timers and sockets wait this long. */
const SLICE_MS = 20;

/** Work that can be paused: it yields where that is safe. */
export type Sliced<T> = Generator<undefined, T, undefined>;

/**
 * Does work in slices, with a turn of the event loop in between: a signal is handled soon, however long the work takes.
 *
 * @param stop ends the work at the next slice.
 * @returns the result of the work; `undefined` if it was stopped early.
 */
export async function inSlices<T>(work: Sliced<T>, stop?: AbortSignal): Promise<T | undefined> {
  for (;;) {
    const untilMs = performance.now() + SLICE_MS;
    do {
      const { done, value } = work.next();
      if (done === true) return value;
    } while (performance.now() < untilMs);
    await nextTurn();
    if (stop?.aborted === true) return undefined;
  }
}
