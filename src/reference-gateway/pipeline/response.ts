import type { Outcome } from "./outcome.ts";
import type { Refusal } from "./refusal.ts";

export type Header = readonly [name: string, value: string];

/** What an event of a streamed reply is for; the same words in both dialects, so that a defect can be put in both. */
export type EventKind =
  | "open"
  | "blockStart"
  | "text"
  | "toolStart"
  | "toolInput"
  | "blockStop"
  | "finish"
  | "usage"
  | "done"
  | "error"
  | "other";

/** One event of a streamed reply, before it is framed. */
export interface StreamEvent {
  readonly kind: EventKind;
  /** Milliseconds after the answer was decided. */
  readonly atMs: number;
  /** Value of the `event:` line; absent in the chat dialect. */
  readonly name?: string | undefined;
  /** An object is written as JSON, a string as it is. */
  readonly data: unknown;
  /** Output tokens that the event stands for. */
  readonly tokens: number;
}

/**
 * How a stream's response comes to its end.
 * - `finish`: as HTTP wants it
 * - `abort`: the connection is closed after the last byte, with the body unfinished
 * - `reset`: the same by a TCP reset
 * - `hang`: it does not; the connection stays open until the client leaves
 */
export type Ending = "finish" | "abort" | "reset" | "hang";

export type Body =
  | { readonly kind: "none" }
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "text"; readonly text: string; readonly contentType: string }
  | { readonly kind: "events"; readonly events: Iterable<StreamEvent>; readonly ending: Ending }
  | Relayed;

/** Bytes of a provider's stream, passed on as they come. */
export interface RelayedPiece {
  readonly bytes: Uint8Array;
  /** Output tokens that they stand for, about. */
  readonly tokens: number;
  /** The provider broke off: this is the last piece, and the connection ends behind it. */
  readonly isBroken: boolean;
}

export interface Relayed {
  readonly kind: "relayed";
  readonly pieces: AsyncIterable<RelayedPiece>;
}

/** What the gateway decided to say, before it is put into bytes. */
export interface GatewayResponse {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: Body;
  /** Milliseconds to wait before the first byte. */
  readonly afterMs: number;
  /** What the history will say when everything was handed over. */
  readonly outcome: Outcome;
  readonly refusal?: Refusal | undefined;
}

/** Bytes of a stream that are due together. A string is sent as UTF-8. */
export interface Step {
  readonly atMs: number;
  readonly bytes: string | Uint8Array;
  readonly tokens: number;
}

export type ParcelBody =
  | { readonly kind: "whole"; readonly bytes: Buffer }
  | { readonly kind: "steps"; readonly steps: Iterable<Step>; readonly ending: Ending }
  | Relayed;

/** An answer in bytes, ready to be delivered. */
export interface Parcel {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly afterMs: number;
  readonly body: ParcelBody;
  readonly outcome: Outcome;
}

/** Header names are compared without their letter case. */
export function withHeader(headers: readonly Header[], name: string, value: string): Header[] {
  return [...withoutHeader(headers, name), [name, value]];
}

export function withoutHeader(headers: readonly Header[], name: string): Header[] {
  const wanted = name.toLowerCase();
  return headers.filter(([present]) => present.toLowerCase() !== wanted);
}

export function headerOf(headers: readonly Header[], name: string): string | undefined {
  const wanted = name.toLowerCase();
  return headers.find(([present]) => present.toLowerCase() === wanted)?.[1];
}
