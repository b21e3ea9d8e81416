import type { HeaderList } from "../../dialects/index.ts";

/** How an exchange ended. Whatever a gateway does maps to one of these; nothing is thrown. */
export type EndingKind =
  /** The whole message arrived. */
  | "complete"
  /** The connection ended inside the exchange: a reset, or a close before the message was complete. */
  | "reset"
  /** The bytes are not HTTP/1.1; `detail` has the parser's reason. */
  | "protocol-error"
  /** No connection could be established: name, address, port or TLS. */
  | "unreachable"
  /** The exchange exceeded our deadline. */
  | "deadline"
  /** The gap between two pieces exceeded our bound. */
  | "idle-timeout"
  /** The response exceeded our bound on its size. */
  | "size-bound"
  /** We aborted on purpose, as a client that stops waiting does. */
  | "aborted";

export interface Ending {
  readonly kind: EndingKind;
  readonly detail?: string;
}

/** Times of an exchange in µs on the monotonic clock, relative to the origin of the recorder (one per run). */
export interface Timeline {
  /** When it was scheduled to be sent. */
  readonly dueUs: number;
  /** When writing the request began; `undefined` without a connection. */
  readonly sentUs: number | undefined;
  /** First byte of the response, including interim responses. */
  readonly firstByteUs: number | undefined;
  /** Head of the final response. */
  readonly headersUs: number | undefined;
  /** End of the exchange, however it ended. */
  readonly endUs: number;
}

/** Where a secret was found. Its bytes were replaced by a mask of the same length. */
export interface Redaction {
  /** Name of the secret, e.g. `key.valid`. */
  readonly secret: string;
  /** Whether the whole secret was found, or only a long part of it. */
  readonly whole: boolean;
  readonly form: "plain" | "base64" | "hex" | "url" | "json" | "html";
  readonly place: "request" | "response-headers" | "response-body";
}

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderList;
  readonly body: string | undefined;
  /** Length of the body as sent. */
  readonly bodyBytes: number;
  /** Set if `body` is only the beginning of what was sent. */
  readonly truncated?: true;
}

/** A body as it arrived. Text and base64 are after content decoding and redaction; exactly one of them is set. */
export interface RecordedBody {
  /** Only the beginning if the body exceeds its bound. */
  readonly text: string | undefined;
  /** Set instead of `text` if the bytes are not UTF-8. */
  readonly base64: string | undefined;
  /** Length after content decoding of everything that arrived. */
  readonly bytes: number;
  /** Length as received, before content decoding (and without transfer framing). */
  readonly receivedBytes: number;
  /**
   * Arrival of the pieces: µs from the recorder's origin, and bytes after content decoding. One per network read; if there were
   * more reads than the bound allows, neighbours are merged, with the time of the later one.
   */
  readonly pieces: readonly (readonly [atUs: number, bytes: number])[];
  /** Network reads that delivered it. */
  readonly reads: number;
  /** Why the declared content encoding could not be undone; the bytes are then kept as received. */
  readonly decodeError: string | undefined;
}

export interface RecordedResponse {
  readonly status: number;
  /** Names in their original letter case. */
  readonly headers: HeaderList;
  /** Status codes of interim (1xx) responses before the final one. */
  readonly interim: readonly number[];
  readonly trailers: HeaderList;
  readonly body: RecordedBody;
}

/** One request and everything observed about it: facts only, JSON-serialisable, redacted. */
export interface Exchange {
  readonly id: string;
  /** Wall clock at the due time, Unix epoch ms. */
  readonly startedAtMs: number;
  readonly request: RecordedRequest;
  /** Name of the key that was sent (`valid`, `revoked`, …), never its value; `undefined` if none was sent. */
  readonly key: string | undefined;
  /** Which connection, and how many exchanges it had carried before. */
  readonly connection: { readonly id: string; readonly earlier: number };
  readonly timeline: Timeline;
  readonly response: RecordedResponse | undefined;
  readonly ending: Ending;
  /** Longest stall of this process during the exchange, ms: its latencies may be too long by this much. */
  readonly ownLagMs: number;
  /** What was wrong on the connection right after the message, e.g. bytes beyond its declared length. */
  readonly afterwards: string | undefined;
  readonly redactions: readonly Redaction[];
}

/** Bounds of one exchange. All have documented defaults, so that a hostile gateway can use only limited time and memory. */
export interface Bounds {
  /** Whole exchange, ms; default 30,000, minimum 1. */
  readonly deadlineMs: number;
  /** Gap between two pieces of a response that has started, ms; default 15,000, minimum 1. */
  readonly idleMs: number;
  /** Response after content decoding, bytes; default 8 MiB, minimum 1. */
  readonly maxBodyBytes: number;
  /** Pieces of a response that are kept separate; default 4,096, minimum 16. Conformant streams of the checks have under 300. */
  readonly maxPieces: number;
}

export const DEFAULT_BOUNDS: Bounds = {
  deadlineMs: 30_000,
  idleMs: 15_000,
  maxBodyBytes: 8 * 1024 * 1024,
  maxPieces: 4_096,
};
