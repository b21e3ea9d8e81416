import type { Interruption } from "../app/index.ts";

/** The first signal ends the run with a report, the second one ends it at once with a report, a third one the process. */
export function watchInterruption(): Interruption & AsyncDisposable {
  const first = new AbortController();
  const second = new AbortController();
  let by: "SIGINT" | "SIGTERM" | undefined;
  const stop = (signal: "SIGINT" | "SIGTERM") => {
    if (by !== undefined) {
      second.abort();
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
    }
    by ??= signal;
    first.abort();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return {
    signal: first.signal,
    now: second.signal,
    by: () => by,
    stop: () => first.abort(),
    async [Symbol.asyncDispose]() {
      // After an error checks may still wait for a rate window; the process must not wait with them.
      first.abort();
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
    },
  };
}
