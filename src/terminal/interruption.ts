import type { Interruption } from "../run/control/index.ts";
import { type EndingSignal, endInTime } from "./end-in-time.ts";

/** How long requests in flight may take to end after the first signal, ms. */
const IN_FLIGHT_MS = 800;

/**
 * The first signal ends the run with a report: requests in flight get a moment, then they are aborted as by a second signal. A
 * third signal, or a timeout for all of this, ends the process.
 *
 * @param onSignal called at the first signal, with the folder in which the run is recorded, if there is one.
 */
export function watchInterruption(onSignal: (folder: string | undefined) => void): Interruption & AsyncDisposable {
  const first = new AbortController();
  const second = new AbortController();
  let by: EndingSignal | undefined;
  let atMs: number | undefined;
  let folder: string | undefined;
  const stop = (signal: EndingSignal) => {
    if (by !== undefined) {
      second.abort();
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
      return;
    }
    by = signal;
    atMs = performance.now();
    endInTime(signal, folder);
    onSignal(folder);
    setTimeout(() => second.abort(), IN_FLIGHT_MS).unref();
    first.abort();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return {
    signal: first.signal,
    now: second.signal,
    by: () => by,
    sinceMs: () => (atMs === undefined ? 0 : performance.now() - atMs),
    recordedIn: (path) => {
      folder = path;
    },
    stop: () => first.abort(),
    async [Symbol.asyncDispose]() {
      // After an error, checks may still wait for a rate window; the process must not wait for them.
      first.abort();
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
    },
  };
}
