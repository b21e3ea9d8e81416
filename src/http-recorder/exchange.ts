import type { HeaderList } from "../dialects/index.ts";

/** How an exchange ended. Whatever a gateway does becomes one of these; nothing is thrown. */
export type EndingKind =
  /** The whole message arrived. */
  | "complete"
  /** The connection ended inside the exchange: a reset, or its end before the message was whole. */
  | "reset"
  /** The bytes are not HTTP/1.1; `detail` has the parser's reason. */
  | "protocol-error"
  /** No connection came about: name, address, port or TLS. */
  | "unreachable"
  /** Our bound on the whole exchange was reached. */
  | "deadline"
  /** Our bound on the silence between two pieces was reached. */
  | "idle-timeout"
  /** Our bound on the size of the answer was reached. */
  | "size-bound"
  /** We left on purpose, as a client that gives up does. */
  | "aborted";

export interface Ending {
  readonly kind: EndingKind;
  readonly detail?: string;
}

/** Moments of an exchange in µs on the monotonic clock, from the origin of the recorder (one per run). */
export interface Timeline {
  /** When the plan wanted it sent. */
  readonly dueUs: number;
  /** When writing the request began; `undefined` when no connection came about. */
  readonly sentUs: number | undefined;
  /** First byte of the answer, interim responses included. */
  readonly firstByteUs: number | undefined;
  /** Head of the final response. */
  readonly headersUs: number | undefined;
  /** End of the exchange, however it came. */
  readonly endUs: number;
}

/** A place where a secret stood. The bytes there were replaced by a mask of the same length. */
export interface Redaction {
  /** Name of the secret, e.g. `key.valid`. */
  readonly secret: string;
  /** Whether all of it was there, or only a long part. */
  readonly whole: boolean;
  readonly form: "plain" | "base64" | "hex" | "url" | "json" | "html";
  readonly place: "request" | "response-headers" | "response-body";
}

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderList;
  readonly body: string | undefined;
  /** Length of the body as it was sent. */
  readonly bodyBytes: number;
  /** Set when `body` is only the beginning of what was sent. */
  readonly truncated?: true;
}

/** A body as it arrived. Text and base64 are after content decoding and redaction; exactly one of them is set. */
export interface RecordedBody {
  /** Of a body beyond its bound only the beginning. */
  readonly text: string | undefined;
  /** Set instead of `text` when the bytes are not UTF-8. */
  readonly base64: string | undefined;
  /** Length after content decoding, of all that came. */
  readonly bytes: number;
  /** Length as received, before content decoding (and without transfer framing). */
  readonly receivedBytes: number;
  /**
   * Arrival of the pieces: µs from the recorder's origin, and bytes after content decoding. One per network read; where there
   * were more reads than the bound allows, neighbours are one piece, with the moment of the later one.
   */
  readonly pieces: readonly (readonly [atUs: number, bytes: number])[];
  /** Network reads that brought it. */
  readonly reads: number;
  /** Why the declared content encoding could not be undone; the bytes are then kept as received. */
  readonly decodeError: string | undefined;
}

export interface RecordedResponse {
  readonly status: number;
  /** Names in the letter case in which they came. */
  readonly headers: HeaderList;
  /** Status codes of interim (1xx) responses before the final one. */
  readonly interim: readonly number[];
  readonly trailers: HeaderList;
  readonly body: RecordedBody;
}

/** One request and all that came of it: facts only, JSON-serialisable, redacted. */
export interface Exchange {
  readonly id: string;
  /** Wall clock at the due moment, Unix epoch ms. */
  readonly startedAtMs: number;
  readonly request: RecordedRequest;
  /** Name of the key that was sent (`valid`, `revoked`, …), never its value; `undefined` when none was. */
  readonly key: string | undefined;
  /** Which connection, and how many exchanges it had carried before. */
  readonly connection: { readonly id: string; readonly earlier: number };
  readonly timeline: Timeline;
  readonly response: RecordedResponse | undefined;
  readonly ending: Ending;
  /** Longest time for which this process was held up meanwhile, ms: latencies of this exchange may be too long by it. */
  readonly ownLagMs: number;
  /** What was wrong on the connection right after the message, e.g. bytes beyond its declared length. */
  readonly afterwards: string | undefined;
  readonly redactions: readonly Redaction[];
}

/** Bounds of one exchange. All have documented defaults, so that a hostile gateway costs bounded time and memory. */
export interface Bounds {
  /** Whole exchange, ms; default 30,000, minimum 1. */
  readonly deadlineMs: number;
  /** Silence between two pieces of an answer that has begun, ms; default 15,000, minimum 1. */
  readonly idleMs: number;
  /** Answer after content decoding, bytes; default 8 MiB, minimum 1. */
  readonly maxBodyBytes: number;
  /** Pieces of an answer that are kept apart; default 4,096, minimum 16. Sound streams of the checks have under 300. */
  readonly maxPieces: number;
}

export const DEFAULT_BOUNDS: Bounds = {
  deadlineMs: 30_000,
  idleMs: 15_000,
  maxBodyBytes: 8 * 1024 * 1024,
  maxPieces: 4_096,
};
