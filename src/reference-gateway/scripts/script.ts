import type { Outcome } from "../pipeline/outcome.ts";
import type { Reason } from "../pipeline/refusal.ts";
import type { Header } from "../pipeline/response.ts";

/** A request as a script sees it. */
export interface ScriptedRequest {
  /** The gateway's identifier of the request. */
  readonly id: string;
  readonly endpoint: "chat" | "messages" | "models" | "other";
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: string;
  /** It asks for a stream, as far as its body could be read. */
  readonly stream: boolean;
  readonly connectionId: number;
  /** Monotonic milliseconds at which its head was there. */
  readonly atMs: number;
  /** The same moment on the wall clock, Unix epoch milliseconds. */
  readonly atWallMs: number;
}

/** What became of a request. */
export interface ScriptedAnswer {
  readonly status: number;
  readonly headers: readonly Header[];
  /** What was handed to the connection, text of a stream included; at most 64 KiB of it. */
  readonly body: string;
  /** Named reason of a refusal, whoever refused: the script, or the gateway itself. */
  readonly reason: Reason | undefined;
  /** Monotonic milliseconds at which its first byte went out; `undefined` when none did. */
  readonly beganMs: number | undefined;
  /** Monotonic milliseconds at which nothing more was to come, or the client had left. */
  readonly endedMs: number;
  /** `interrupted`: the client left before the end. */
  readonly outcome: Outcome;
}

/**
 * What a script makes of one request.
 * - `serve`: a reply of its own text
 * - `refuse`: a denial, or a failure of the gateway; `retryAfter` as it goes on the wire, none when absent
 * - `redirect`: 307 to another address
 * - `silence`: not a byte, until the client leaves
 */
export type Turn =
  | {
      readonly do: "serve";
      readonly text: string;
      /** Milliseconds that the reply takes, spread over its pieces. Default: 0. */
      readonly lastsMs?: number;
      /** The connection of a stream is closed after so many pieces of text. Default: never. */
      readonly cutAfter?: number;
    }
  | {
      readonly do: "refuse";
      readonly reason: Reason;
      /** Default: what the reason has. */
      readonly status?: number;
      readonly retryAfter?: string | undefined;
      /** Milliseconds until it is answered. Default: 0. */
      readonly afterMs?: number;
    }
  | { readonly do: "redirect"; readonly to: string }
  | { readonly do: "silence" };

/** Decides what happens to the requests of one gateway, and hears of all of them. */
export interface Script {
  /** What to make of an inference request with which nothing is wrong. Asked once, before the request is answered. */
  turn(request: ScriptedRequest): Turn;
  /** A request is there: also one that the gateway will refuse by itself, or that is no inference. */
  arrived?(request: ScriptedRequest): void;
  /** A request is over, however it was answered. */
  ended?(request: ScriptedRequest, response: ScriptedAnswer): void;
}
