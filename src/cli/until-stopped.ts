import { once } from "node:events";

/** Resolves on a signal, and when the run that started this process has gone. */
export async function untilStopped(onReady: () => void): Promise<void> {
  const asked = new AbortController();
  const stop = () => asked.abort();
  process.on("SIGTERM", stop).on("SIGINT", stop);
  // Started by a run of ours: without it there is nobody to serve, and nobody to end us.
  if (process.connected) process.once("disconnect", stop);
  // It was killed before we came this far.
  else if (process.send !== undefined) stop();
  onReady();
  if (!asked.signal.aborted) await once(asked.signal, "abort");
}
