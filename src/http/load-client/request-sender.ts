import type { InFlightGauge } from "./in-flight-gauge.ts";
import type { Ending, LoadExchange, OnStamp, PreparedRequest } from "./load-exchange.ts";

export interface SenderOptions {
  /** URL whose origin is connected to. */
  readonly url: string;
  /** Maximum number of requests in flight; over HTTP/1.1, also the number of connections. */
  readonly maxConnections: number;
  /** Whole exchange, ms; default 60,000. */
  readonly deadlineMs?: number;
  /** Maximum wait for the head of a response, ms; default: `deadlineMs`. */
  readonly headMs?: number | undefined;
  /** Maximum gap within a response that has started, ms; default 20,000. */
  readonly idleMs?: number;
  /** Reads `x_send_ns` stamps of events, for calibration. */
  readonly onStamp?: OnStamp;
  /** Counts requests in flight; default: a separate gauge. */
  readonly gauge?: InFlightGauge | undefined;
  /** Number of connections so far, if several senders number theirs together; default: a separate count. */
  readonly connectionCounter?: { connections: number } | undefined;
}

export type OnEnd = (exchange: LoadExchange) => void;

/** Sends requests over persistent connections, whatever the protocol. */
export interface RequestSender extends AsyncDisposable {
  /** Requests sent whose response has not ended yet. */
  readonly inFlight: number;
  /** Number of connections opened so far. */
  readonly opened: number;
  /** Requests that had to wait for a connection to open. */
  readonly waits: number;
  readonly peakInFlight: number;
  /** Why the last connection attempt failed. */
  readonly lastFailure: string | undefined;
  /**
   * Opens connections for this many requests in advance, so that none has to wait for a handshake. @returns the number of requests
   * for which connections are open.
   */
  open(count: number): Promise<number>;
  /**
   * Sends immediately.
   *
   * @param dueUs scheduled send time, on the clock of `nowUs`.
   * @param onEnd called once, when the exchange has ended; never before this returns.
   * @returns false if the bound is reached: the arrival is dropped, and the caller counts it.
   */
  send(prepared: PreparedRequest, dueUs: number, onEnd: OnEnd): boolean;
  /** Aborts all requests in flight; their exchanges end as `aborted`. */
  abortAll(): void;
  /** The exchange of this request while it runs; `undefined` before its connection is open, and after its end. */
  underWay(prepared: PreparedRequest): LoadExchange | undefined;
  /** Aborts one exchange, like a client that stops waiting. */
  abort(exchange: LoadExchange): void;
}

/** Interval of the deadline checks, ms: a timer per request would cost more than the request. */
export const SWEEP_MS = 100;

/** Maximum length of a response, bytes: a bound against endless streams. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Why a running exchange must be aborted now; `undefined` if it may continue. */
export function overdue(
  { sentUs, headUs, readUs, bodyBytes }: LoadExchange,
  atUs: number,
  { deadlineMs = 60_000, headMs = deadlineMs, idleMs = 20_000 }: SenderOptions,
): Ending | undefined {
  if (atUs - sentUs > (headUs > 0 ? deadlineMs : Math.min(deadlineMs, headMs)) * 1_000) return "deadline";
  if (headUs > 0 && atUs - readUs > idleMs * 1_000) return "idle-timeout";
  return bodyBytes > MAX_BYTES ? "size-bound" : undefined;
}
