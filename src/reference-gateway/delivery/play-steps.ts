import type { Socket } from "node:net";
import type { ParcelBody, Step } from "../pipeline/response.ts";
import type { Scheduler, Task } from "./scheduler.ts";

/** Bytes that may be buffered for one slow reader before the stream is paused. */
const MAX_BUFFERED_BYTES = 256 * 1_024;

/** The target of the steps: Node's response, or a connection that is written by hand. */
export interface Sink {
  readonly socket: Socket | null;
  readonly writableLength: number;
  flushHeaders(): void;
  /** Writes of one event loop turn would otherwise be sent as one chunk. */
  cork?(): unknown;
  uncork?(): unknown;
  write(bytes: string | Uint8Array): unknown;
  end(): unknown;
  once(event: "drain", listener: () => void): unknown;
  off(event: "drain", listener: () => void): unknown;
}

interface Listener {
  delivered(tokens: number): void;
  /** The gateway itself is about to end the response. */
  ending(): void;
}

/**
 * Writes the steps of a stream, each at its time.
 *
 * @param sink its head is written.
 * @returns a function that stops, to be called when the client has left.
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
  // Send the head immediately even if the first step is far away.
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
    // The callback of an empty write runs when everything before it has reached the operating system, so nothing is lost.
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
