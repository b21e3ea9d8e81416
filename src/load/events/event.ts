import type { Action } from "../../target/index.ts";
import type { EventBound, RatioBound } from "./event-bound.ts";

/** What an event does: an action, or the name of one in the target file. */
export type EventAction =
  | Action
  | {
      readonly kind: "named";
      readonly name: string;
      /** At least this much time, whatever the target file says, ms. */
      readonly timeoutMs?: number | undefined;
    };

/** What clients may notice of an event. */
export interface EventExpectations {
  /** Requests without a usable reply, except retryable denials. */
  readonly failed?: EventBound | undefined;
  /** Requests denied with a retryable status and a usable Retry-After. */
  readonly retryable?: EventBound | undefined;
  /** 2xx responses that no client can use. */
  readonly invalidReplies?: EventBound | undefined;
  /** Requests without a complete response: no connection, a reset, a timeout, a truncated reply or stream. */
  readonly incompleteResponses?: EventBound | undefined;
  /** Streams that stopped before their final event and without an error event. */
  readonly truncatedStreams?: EventBound | undefined;
  /** Streams that ended with an error event. */
  readonly interruptedStreams?: EventBound | undefined;
  /** Requests admitted since the event, as a multiple of what was admitted before while the account was at its limit. */
  readonly admitted?: RatioBound | undefined;
  /** CPU time, and bytes written to the log, of the gateway for a request, as a multiple of the time before. */
  readonly cpuPerRequest?: RatioBound | undefined;
  readonly logBytesPerRequest?: RatioBound | undefined;
  /** How many of the account's concurrent requests may still be leaked after the load; only 0 is supported. */
  readonly capacityLeaked?: 0 | undefined;
  /** Time by which the longest response time in the window may exceed the p95 before, s. */
  readonly addedDelayS?: number | undefined;
  /** Time until outcomes and latency have recovered, s: from the start of the event, or of its undo if it has a duration. */
  readonly recoveredWithinS?: number | undefined;
}

/** Something that is done to the gateway during a load. Times are from the start of the measurement. */
export interface WorkloadEvent<Does = EventAction> {
  readonly name: string;
  readonly atS: number;
  readonly action: Does;
  /** Undoes it. */
  readonly after?: Does | undefined;
  /** Time until it is undone; absent: at the end of the load. */
  readonly durationS?: number | undefined;
  /** Time in which requests are judged by its expectations; absent: until the gateway has recovered. */
  readonly windowS?: number | undefined;
  readonly expect: EventExpectations;
}
