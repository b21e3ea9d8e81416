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
  /** Monotonic milliseconds at which its head was complete. */
  readonly atMs: number;
  /** The same time on the wall clock, Unix epoch milliseconds. */
  readonly atWallMs: number;
}

/** How a request ended. */
export interface ScriptedResponse {
  readonly status: number;
  readonly headers: readonly Header[];
  /** What was written to the connection, including the text of a stream; at most 64 KiB. */
  readonly body: string;
  /** Named reason of a refusal, whether by the script or the gateway itself. */
  readonly reason: Reason | undefined;
  /** Monotonic milliseconds at which its first byte was sent; `undefined` if none was. */
  readonly beganMs: number | undefined;
  /** Monotonic milliseconds at which the response ended, or the client left. */
  readonly endedMs: number;
  /** `interrupted`: the client left before the end. */
  readonly outcome: Outcome;
}

/**
 * What a script does with one request.
 * - `serve`: a reply with a given text
 * - `refuse`: a denial, or a failure of the gateway; `retryAfter` is sent verbatim, omitted if absent
 * - `redirect`: 307 to another address
 * - `silence`: not a byte, until the client leaves
 */
export type Turn =
  | {
      readonly do: "serve";
      readonly text: string;
      /** Duration of the reply in milliseconds, spread over its pieces. Default: 0. */
      readonly lastsMs?: number;
      /** The connection of a stream is closed after this many pieces of text. Default: never. */
      readonly cutAfter?: number;
    }
  | {
      readonly do: "refuse";
      readonly reason: Reason;
      /** Default: that of the reason. */
      readonly status?: number;
      readonly retryAfter?: string | undefined;
      /** Milliseconds until the response. Default: 0. */
      readonly afterMs?: number;
    }
  | { readonly do: "redirect"; readonly to: string }
  | { readonly do: "silence" };

/** Decides what happens to the requests of one gateway, and observes all of them. */
export interface Script {
  /** Decides about a valid inference request. Called once, before the response. */
  turn(request: ScriptedRequest): Turn;
  /** A request has arrived, including those that the gateway itself will refuse, and those other than inference. */
  arrived?(request: ScriptedRequest): void;
  /** A request has ended, whatever the response. */
  ended?(request: ScriptedRequest, response: ScriptedResponse): void;
}
