import { once } from "node:events";
import type { Socket } from "node:net";
import { sleep } from "../core/index.ts";
import { type PreparedResponse, withReplyId } from "./prepare.ts";
import type { LoggedRequest } from "./request-log.ts";
import type { Behaviour } from "./scenario.ts";

/** A connection of a gateway to the upstream. */
export interface Link {
  readonly socket: Socket;
  /** Aborted when the connection has closed, whichever side closed it. */
  readonly closed: AbortSignal;
}

/** Origin of all times, ms. */
const ORIGIN_MS = performance.now();
/** Milliseconds since the upstream started, to the microsecond. */
export const sinceStartMs = (): number => Math.round((performance.now() - ORIGIN_MS) * 1_000) / 1_000;

/** Writes a response according to a behaviour, and records how it ended. @returns whether the connection can be reused. */
export async function play(
  link: Link,
  response: PreparedResponse,
  behaviour: Behaviour,
  logged: LoggedRequest,
): Promise<boolean> {
  const head = `${response.head}date: ${dateNow()}\r\nx-request-id: up_${logged.id}\r\n\r\n`;
  if (behaviour.latencyMs > 0) await waitMs(behaviour.latencyMs, link);
  if (behaviour.break?.at === "before-head") return breakOff(link, behaviour.break.how, logged);
  if (link.closed.aborted) return endedByGateway(logged);
  logged.status = response.status;
  logged.headMs = sinceStartMs();
  if (behaviour.break?.at === "inside-head") {
    link.socket.write(head.slice(0, head.indexOf("\r\n") + 8));
    return breakOff(link, behaviour.break.how, logged);
  }
  if (response.whole !== undefined && !isUneven(behaviour)) {
    link.socket.write(Buffer.concat([Buffer.from(head, "latin1"), withReplyId(response.whole, logged.id)]));
    logged.sentEvents = response.isStream ? response.parts.length : 0;
    return ended(logged);
  }
  link.socket.write(head, "latin1");
  if (behaviour.break?.at === "after-head") return breakOff(link, behaviour.break.how, logged);
  return playParts(link, response, behaviour, logged);
}

const isUneven = (behaviour: Behaviour): boolean => behaviour.break !== undefined || behaviour.slowly !== undefined;

async function playParts(
  link: Link,
  response: PreparedResponse,
  behaviour: Behaviour,
  logged: LoggedRequest,
): Promise<boolean> {
  const startedMs = performance.now();
  for (const part of response.parts) {
    const leftMs = startedMs + part.afterMs - performance.now();
    if (leftMs > 0.5) await waitMs(leftMs, link);
    if (link.closed.aborted) return endedByGateway(logged);
    const bytes = withReplyId(part, logged.id);
    const stop = behaviour.break;
    if (stop !== undefined && (!response.isStream || stop.at === logged.sentEvents)) {
      // For a non-streaming reply, half of it.
      if (!response.isStream) link.socket.write(bytes.subarray(0, bytes.length >> 1));
      return breakOff(link, stop.how, logged);
    }
    await writeAll(link, bytes, behaviour);
    if (link.closed.aborted) return endedByGateway(logged);
    if (response.isStream) logged.sentEvents++;
  }
  return ended(logged);
}

/** Writes no faster than the behaviour specifies, and than the other side reads. */
async function writeAll(link: Link, bytes: Buffer, { slowly }: Behaviour): Promise<void> {
  const step = slowly?.bytes ?? bytes.length;
  for (let from = 0; from < bytes.length && !link.closed.aborted; from += step) {
    if (!link.socket.write(bytes.subarray(from, from + step)))
      await once(link.socket, "drain", { signal: link.closed }).catch(() => undefined);
    if (slowly !== undefined) await waitMs(slowly.everyMs, link);
  }
}

async function breakOff({ socket, closed }: Link, how: "reset" | "close" | "stall", logged: LoggedRequest) {
  if (how === "stall") {
    if (!closed.aborted) await once(closed, "abort");
    return endedByGateway(logged);
  }
  logged.end = "broken-off";
  logged.endMs = sinceStartMs();
  // Earlier data has to be sent first: a reset would overtake it.
  if (how === "reset") setTimeout(() => socket.resetAndDestroy(), 5);
  else socket.end();
  return false;
}

function endedByGateway(logged: LoggedRequest): false {
  logged.end = "gateway-left";
  logged.endMs = sinceStartMs();
  return false;
}

function ended(logged: LoggedRequest): true {
  logged.end = "complete";
  logged.endMs = sinceStartMs();
  return true;
}

async function waitMs(ms: number, { closed }: Link): Promise<void> {
  await sleep(ms, closed);
}

let date = { second: 0, text: "" };

function dateNow(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (date.second !== second) date = { second, text: new Date().toUTCString() };
  return date.text;
}
