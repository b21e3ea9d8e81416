import type { Socket } from "node:net";
import type { ParcelBody, Step } from "../pipeline/response.ts";
import type { Scheduler, Task } from "./scheduler.ts";

/** Bytes that may wait in the process for one slow reader before the stream is held back. */
const MAX_BUFFERED_BYTES = 256 * 1_024;

/** What the steps are written to: a response of Node's, or a connection that is written by hand. */
export interface Sink {
  readonly socket: Socket | null;
  readonly writableLength: number;
  flushHeaders(): void;
  /** Where the writes of one turn of the event loop would otherwise go out as one chunk. */
  cork?(): unknown;
  uncork?(): unknown;
  write(bytes: string | Uint8Array): unknown;
  end(): unknown;
  once(event: "drain", listener: () => void): unknown;
  off(event: "drain", listener: () => void): unknown;
}

interface Listener {
  delivered(tokens: number): void;
  /** The gateway itself is about to end the response, one way or another. */
  ending(): void;
}

/**
 * Writes the steps of a stream, each at its time.
 *
 * @param sink its head is written.
 * @returns a function that stops, for when the client has left.
 */
export function playSteps(
  { steps, ending }: Extract<ParcelBody, { kind: "steps" }>,
  sink: Sink,
  scheduler: Scheduler,
  listener: Listener,
): () => void {
  const startMs = performance.now();
  const iterator = steps[Symbol.iterator]();
  let next: IteratorResult<Step> = iterator.next();
  // The head goes out now even when the first step is far away.
  if (next.done === true || next.value.atMs > 0) sink.flushHeaders();

  const advance = () => {
    const elapsedMs = performance.now() - startMs + 0.5;
    while (next.done !== true && next.value.atMs <= elapsedMs) {
      listener.delivered(next.value.tokens);
      sink.cork?.();
      sink.write(next.value.bytes);
      sink.uncork?.();
      next = iterator.next();
      if (sink.writableLength > MAX_BUFFERED_BYTES) {
        sink.once("drain", advance);
        return;
      }
    }
    if (next.done === true) end();
    else scheduler.schedule(task, startMs + next.value.atMs);
  };

  const end = () => {
    if (ending === "hang") return;
    if (ending === "finish") {
      sink.end();
      return;
    }
    listener.ending();
    // An empty write comes back when everything before it is with the operating system: nothing said is lost.
    const { socket } = sink;
    socket?.write("", () => (ending === "reset" ? socket.resetAndDestroy() : socket.destroy()));
  };

  const task: Task = { dueMs: 0, run: advance, waiting: false };
  advance();
  return () => {
    scheduler.cancel(task);
    sink.off("drain", advance);
    iterator.return?.();
  };
}
