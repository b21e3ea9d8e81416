import type { IncomingMessage } from "node:http";

/** A complete body, or one that was discarded because it is too large. */
export type Received = { readonly kind: "bytes"; readonly bytes: Buffer } | { readonly kind: "tooLarge" };

/**
 * Bodies up to this many times the limit are read and discarded, so that the refusal arrives on a reusable connection; a client
 * that is still writing would see a reset instead of the refusal.
 */
const DRAINED_TIMES = 4;

const EMPTY = Buffer.alloc(0);

/**
 * Reads a request's body.
 *
 * @param limitBytes largest body that is kept.
 * @param done called once; never if the client leaves before the end.
 */
export function receiveBody(request: IncomingMessage, limitBytes: number, done: (received: Received) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let finished = false;
  const finish = (received: Received) => {
    if (finished) return;
    finished = true;
    done(received);
  };
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limitBytes) chunks.push(chunk);
    else if (size > limitBytes * DRAINED_TIMES) finish({ kind: "tooLarge" });
  });
  request.on("end", () => {
    if (size > limitBytes) finish({ kind: "tooLarge" });
    else
      finish({
        kind: "bytes",
        bytes: chunks.length === 1 ? (chunks[0] as Buffer) : chunks.length === 0 ? EMPTY : Buffer.concat(chunks, size),
      });
  });
  // The response's "close" event cleans up; without a listener the error would end the process.
  request.on("error", () => {});
}
