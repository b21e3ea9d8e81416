import type { ServerResponse } from "node:http";
import type { Call } from "../pipeline/behaviour.ts";
import type { Parcel, RelayedPiece } from "../pipeline/response.ts";
import { plannedTokens } from "../providers/plan.ts";
import type { Delivery } from "./delivery.ts";
import { playSteps } from "./play-steps.ts";
import type { Task } from "./scheduler.ts";

/** Writes a parcel to the response when it is due, and reports the outcome. */
export function deliver(parcel: Parcel, call: Call, { response, closed }: Delivery): void {
  const { scheduler } = call.services;
  const { status, body, outcome } = parcel;
  let deliveredTokens = 0;
  let ownEnd = false;
  let isBroken = false;
  let stopPlaying: () => void = () => {};

  const send = () => {
    call.behaviour.began(call);
    writeHead(response, parcel);
    if (body.kind === "whole") {
      deliveredTokens = call.plan?.kind === "reply" && status < 300 ? plannedTokens(call.plan) : 0;
      response.end(body.bytes);
      return;
    }
    if (body.kind === "relayed") {
      void passOn(body.pieces, response, {
        delivered: (tokens) => {
          deliveredTokens += tokens;
        },
        breaking: () => {
          isBroken = true;
        },
      });
      return;
    }
    stopPlaying = playSteps(body, response, scheduler, {
      delivered: (tokens) => {
        deliveredTokens += tokens;
      },
      ending: () => {
        ownEnd = true;
      },
    });
  };
  const task: Task = { dueMs: 0, run: send, waiting: false };

  const finish = () => {
    scheduler.cancel(task);
    stopPlaying();
    const whole = response.writableFinished || ownEnd;
    closed({ outcome: isBroken ? "broken" : whole ? outcome : "interrupted", status, deliveredTokens });
  };
  if (response.destroyed || response.closed) {
    finish();
    return;
  }
  response.once("close", finish);
  if (parcel.afterMs <= 0) send();
  else scheduler.schedule(task, performance.now() + parcel.afterMs);
}

/** Header names are sent in this letter case, and repeated headers stay repeated. */
export function writeHead(response: ServerResponse, { status, headers }: Parcel): void {
  response.writeHead(status, headers.flat());
}

interface Listener {
  delivered(tokens: number): void;
  /** The provider interrupted its stream, and the gateway is about to end the connection. */
  breaking(): void;
}

/**
 * Writes the pieces of a provider's stream as they arrive. A slow caller slows the provider down: no more is read until what
 * was written has been flushed.
 */
async function passOn(
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
