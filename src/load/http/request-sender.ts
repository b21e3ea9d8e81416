import type { InFlightGauge } from "./in-flight-gauge.ts";
import type { Ending, LoadExchange, OnStamp, PreparedRequest } from "./load-exchange.ts";

export interface SenderOptions {
  /** Address whose origin is connected to. */
  readonly url: string;
  /** Most requests in flight; over HTTP/1.1 that is the number of connections as well. */
  readonly maxConnections: number;
  /** Whole exchange, ms; default 60,000. */
  readonly deadlineMs?: number;
  /** Longest wait for the head of an answer, ms; default the whole exchange's. */
  readonly headMs?: number | undefined;
  /** Silence inside an answer that has begun, ms; default 20,000. */
  readonly idleMs?: number;
  /** Reads `x_send_ns` stamps of events, for calibration. */
  readonly onStamp?: OnStamp;
  /** Counts what is in flight; default one of its own. */
  readonly gauge?: InFlightGauge | undefined;
}

export type OnEnd = (exchange: LoadExchange) => void;

/** Sends requests over connections that stay open, whatever they speak. */
export interface RequestSender extends AsyncDisposable {
  /** Sent, and the end of the answer not yet seen. */
  readonly inFlight: number;
  /** Connections that were opened. */
  readonly opened: number;
  /** Requests that had to wait for a connection to open. */
  readonly waits: number;
  readonly peakInFlight: number;
  /** Why the last connection did not come about. */
  readonly lastFailure: string | undefined;
  /** Opens connections for so many requests ahead of time, so that none pays for a handshake. @returns for how many there are. */
  open(count: number): Promise<number>;
  /**
   * Sends at once.
   *
   * @param dueUs when the plan wanted it sent, on the clock of `nowUs`.
   * @param onEnd called once, when the exchange has ended; never before this returns.
   * @returns false when the bound is reached: the arrival is dropped, and the caller counts it.
   */
  send(prepared: PreparedRequest, dueUs: number, onEnd: OnEnd): boolean;
  /** Leaves what is under way; the exchanges end as `aborted`. */
  abortAll(): void;
  /** The exchange of this request while it runs; `undefined` before its connection is there, and after its end. */
  underWay(prepared: PreparedRequest): LoadExchange | undefined;
  /** Leaves one exchange, as a client does that gives up. */
  abort(exchange: LoadExchange): void;
}

/** How often deadlines are looked at, ms: a timer per request would cost more than the request. */
export const SWEEP_MS = 100;

/** Longest answer, bytes: a bound against endless streams. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Why an exchange under way has to be left now; `undefined`: it may go on. */
export function overdue(
  { sentUs, headUs, readUs, bodyBytes }: LoadExchange,
  atUs: number,
  { deadlineMs = 60_000, headMs = deadlineMs, idleMs = 20_000 }: SenderOptions,
): Ending | undefined {
  if (atUs - sentUs > (headUs > 0 ? deadlineMs : Math.min(deadlineMs, headMs)) * 1_000) return "deadline";
  if (headUs > 0 && atUs - readUs > idleMs * 1_000) return "idle-timeout";
  return bodyBytes > MAX_BYTES ? "size-bound" : undefined;
}
