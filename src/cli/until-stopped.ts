import { once } from "node:events";

/** Resolves on a signal, and when the parent run has ended. */
export async function untilStopped(onReady: () => void): Promise<void> {
  const requested = new AbortController();
  const stop = () => requested.abort();
  process.on("SIGTERM", stop).on("SIGINT", stop);
  // Started by one of our runs: without it there are no clients, and nobody would stop us.
  if (process.connected) process.once("disconnect", stop);
  // The parent ended before this point.
  else if (process.send !== undefined) stop();
  onReady();
  if (!requested.signal.aborted) await once(requested.signal, "abort");
}
