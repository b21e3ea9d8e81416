import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/**
 * Microseconds that a provider waits before non-streaming responses, before the first event of a stream, and in addition to its
 * gaps.
 */
export interface Delays {
  readonly response: number;
  readonly first: number;
  readonly each: number;
}

/** Starts `delayed-provider.ts` in a separate process. */
export async function startDelayedProvider({ response, first, each }: Delays) {
  const file = fileURLToPath(new URL("./delayed-provider.ts", import.meta.url));
  const args = ["--import", "tsx", file, ...[response, first, each].map(String)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  const [line] = await once(child.stdout as NonNullable<typeof child.stdout>, "data");
  const origin = `http://127.0.0.1:${Number(String(line))}`;
  return {
    origin,
    /** Measured delays since the last call, medians: from request to response, to first event, and from event to event. */
    taken: async () => (await (await fetch(`${origin}/taken`)).json()) as Delays,
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}
