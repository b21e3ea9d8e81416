import type { ServerResponse } from "node:http";
import type { RelayedPiece } from "../pipeline/response.ts";

interface Listener {
  delivered(tokens: number): void;
  /** The provider interrupted its stream, and the gateway is about to end the connection. */
  breaking(): void;
}

/**
 * Writes the pieces of a provider's stream as they arrive. A slow caller slows the provider down: no more is read until what
 * was written has been flushed.
 */
export async function passOn(
  pieces: AsyncIterable<RelayedPiece>,
  response: ServerResponse,
  { delivered, breaking }: Listener,
): Promise<void> {
  response.flushHeaders();
  for await (const { bytes, tokens, isBroken } of pieces) {
    if (response.destroyed) return;
    if (isBroken) {
      breaking();
      const { socket } = response;
      response.write(bytes);
      socket?.write("", () => socket.destroy());
      return;
    }
    const isRoom = response.write(bytes);
    delivered(tokens);
    if (!isRoom) await drained(response);
  }
  response.end();
}

/** Waits until there is room again, or the client has left. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      response.off("drain", settle);
      response.off("close", settle);
      resolve();
    };
    response.on("drain", settle);
    response.on("close", settle);
  });
}
