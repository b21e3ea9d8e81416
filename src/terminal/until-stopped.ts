import { once } from "node:events";

/** Resolves on a signal, and when the parent run has ended. */
export async function untilStopped(onReady: () => void): Promise<void> {
  const requested = new AbortController();
  const stop = () => requested.abort();
  process.on("SIGTERM", stop).on("SIGINT", stop);
  // Started by one of our runs: if that run is gone, no clients are left and nobody would stop this process.
  if (process.connected) process.once("disconnect", stop);
  // The parent ended before this point.
  else if (process.send !== undefined) stop();
  onReady();
  if (!requested.signal.aborted) await once(requested.signal, "abort");
}
