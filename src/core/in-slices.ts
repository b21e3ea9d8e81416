import { setImmediate as nextTurn } from "node:timers/promises";

/** How long work may hold up the event loop, ms: signals, timers and sockets wait for so long. */
const SLICE_MS = 20;

/** Work that can be paused: it yields where that is safe. */
export type Sliced<T> = Generator<undefined, T, undefined>;

/**
 * Does work in slices, between which the event loop turns: a signal that arrives is handled soon, however long the work takes.
 *
 * @param stop ends the work at the next slice.
 * @returns what the work returns; `undefined` if it was stopped before its end.
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
