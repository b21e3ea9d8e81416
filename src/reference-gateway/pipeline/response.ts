import type { Outcome } from "./outcome.ts";
import type { Refusal } from "./refusal.ts";

export type Header = readonly [name: string, value: string];

/** The purpose of an event of a streamed reply; the same names in both dialects, so that a mutation applies to both. */
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
  /** Milliseconds after the response was decided. */
  readonly atMs: number;
  /** Value of the `event:` line; absent in the chat dialect. */
  readonly name?: string | undefined;
  /** An object is written as JSON, a string verbatim. */
  readonly data: unknown;
  /** Output tokens that the event counts as. */
  readonly tokens: number;
}

/**
 * How a streamed response ends.
 * - `finish`: as HTTP requires
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

/** Bytes of a provider's stream, passed on as they arrive. */
export interface RelayedPiece {
  readonly bytes: Uint8Array;
  /** Approximate output tokens that they count as. */
  readonly tokens: number;
  /** The provider interrupted the stream: this is the last piece, and then the connection ends. */
  readonly isBroken: boolean;
}

export interface Relayed {
  readonly kind: "relayed";
  readonly pieces: AsyncIterable<RelayedPiece>;
}

/** The decided response, before it is encoded. */
export interface GatewayResponse {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: Body;
  /** Milliseconds to wait before the first byte. */
  readonly afterMs: number;
  /** The outcome in the history when everything was handed over. */
  readonly outcome: Outcome;
  readonly refusal?: Refusal | undefined;
}

/** Bytes of a stream that are due at the same time. A string is sent as UTF-8. */
export interface Step {
  readonly atMs: number;
  readonly bytes: string | Uint8Array;
  readonly tokens: number;
}

export type ParcelBody =
  | { readonly kind: "whole"; readonly bytes: Buffer }
  | { readonly kind: "steps"; readonly steps: Iterable<Step>; readonly ending: Ending }
  | Relayed;

/** An encoded response, ready to be delivered. */
export interface Parcel {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly afterMs: number;
  readonly body: ParcelBody;
  readonly outcome: Outcome;
}

/** Header names are compared case-insensitively. */
export function withHeader(headers: readonly Header[], name: string, value: string): Header[] {
  return [...withoutHeader(headers, name), [name, value]];
}

export function withoutHeader(headers: readonly Header[], name: string): Header[] {
  const lowerCaseName = name.toLowerCase();
  return headers.filter(([present]) => present.toLowerCase() !== lowerCaseName);
}

export function headerOf(headers: readonly Header[], name: string): string | undefined {
  const lowerCaseName = name.toLowerCase();
  return headers.find(([present]) => present.toLowerCase() === lowerCaseName)?.[1];
}
