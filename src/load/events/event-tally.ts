import type { LoadExchange } from "../../http/load-client/index.ts";
import type { Outcome } from "../../judging/index.ts";
import type { RequestOutcome } from "../send/outcome.ts";

/** Seconds before the first event, and after each event, whose requests are counted. */
const MAX_BEFORE_S = 300;
const MAX_AFTER_S = 660;
/** Maximum number of response times that a second keeps. */
const MAX_TIMES = 2_000;
/** Statuses that clients retry. */
const RETRIED: readonly number[] = [429, 502, 503, 504, 529];

/** Requests that ended in the same way. */
export interface EventCount {
  readonly outcome: Outcome;
  /** See `RequestOutcome`. */
  readonly what: string;
  readonly stream: boolean;
  /** Whether a response with a retryable status has a usable Retry-After; `none`: the status is not retryable. */
  readonly retryAfter: "usable" | "missing" | "none";
  count: number;
}

/** Requests that were due in the same second. */
export interface EventSecond {
  dropped: number;
  readonly counts: EventCount[];
  /** Response times of admitted requests, µs: each, or every n-th if there are many. */
  readonly timesUs: number[];
  /** The longest response time of all requests, whatever their outcome, µs. */
  longestUs: number;
}

/** What was counted around an event. Each request is counted once. */
export interface EventCounts {
  /** By the time at which they were due, in whole seconds from the event; negative ones only for the first event. */
  readonly seconds: (readonly [second: number, counted: EventSecond])[];
  /** Requests in flight when the event began. A request that spans several events counts for the last one. */
  readonly inFlight: EventCount[];
}

/**
 * Counts requests by their time relative to the events of a workload. A request that was in flight at an event is counted there, every
 * other one in the second in which it was due. Its size depends on the number of seconds, not on the number of requests.
 */
export class EventTally {
  readonly #atUs: readonly number[];
  readonly #events: { readonly seconds: Map<number, EventSecond>; readonly inFlight: EventCount[] }[];
  readonly #strides = new WeakMap<EventSecond, { every: number; next: number }>();

  /** @param atS planned times, in order; seconds from the start of the measurement. */
  constructor(atS: readonly number[]) {
    this.#atUs = atS.map((at) => at * 1_000_000);
    this.#events = atS.map(() => ({ seconds: new Map(), inFlight: [] }));
  }

  /** @param dueUs µs from the start of the measurement. */
  dropped(dueUs: number): void {
    const second = this.#secondOf(dueUs);
    if (second !== undefined) second.dropped++;
  }

  /** @param startUs start of the measurement, on the clock of the exchange. */
  ended(exchange: LoadExchange, { outcome, what }: RequestOutcome, startUs: number): void {
    const [dueUs, endUs] = [exchange.dueUs - startUs, exchange.endUs - startUs];
    const retryAfter = !RETRIED.includes(exchange.status)
      ? "none"
      : exchange.retryAfterWaitMs === undefined
        ? "missing"
        : "usable";
    const ended = { outcome, what, stream: exchange.prepared.stream, retryAfter, count: 1 } as const;
    const during = this.#atUs.findLastIndex((atUs) => dueUs < atUs && atUs < endUs);
    if (during >= 0) {
      add(this.#events[during]?.inFlight ?? [], ended);
      return;
    }
    const second = this.#secondOf(dueUs);
    if (second === undefined) return;
    second.longestUs = Math.max(second.longestUs, endUs - dueUs);
    add(second.counts, ended);
    if (outcome === "admitted") this.#addTime(second, endUs - dueUs);
  }

  #secondOf(dueUs: number): EventSecond | undefined {
    const index = Math.max(
      0,
      this.#atUs.findLastIndex((atUs) => atUs <= dueUs),
    );
    const second = Math.floor((dueUs - (this.#atUs[index] ?? 0)) / 1_000_000);
    const seconds = this.#events[index]?.seconds;
    if (seconds === undefined || second < -MAX_BEFORE_S || second >= MAX_AFTER_S) return undefined;
    const known = seconds.get(second);
    if (known !== undefined) return known;
    const made = { dropped: 0, counts: [], timesUs: [], longestUs: 0 };
    seconds.set(second, made);
    return made;
  }

  /** Keeps every n-th time, so that the kept ones are from the whole second. */
  #addTime(second: EventSecond, timeUs: number): void {
    const stride = this.#strides.get(second) ?? { every: 1, next: 0 };
    this.#strides.set(second, stride);
    if (stride.next-- > 0) return;
    stride.next = stride.every - 1;
    second.timesUs.push(timeUs);
    if (second.timesUs.length < MAX_TIMES) return;
    second.timesUs.splice(0, MAX_TIMES, ...second.timesUs.filter((_, index) => index % 2 === 0));
    stride.every *= 2;
  }

  store(): EventCounts[] {
    return this.#events.map(({ seconds, inFlight }) => ({ seconds: [...seconds], inFlight }));
  }

  /** Adds the counts of another thread. */
  merge(all: readonly EventCounts[]): void {
    for (const [index, { seconds, inFlight }] of all.entries()) {
      const own = this.#events[index];
      if (own === undefined) continue;
      for (const count of inFlight) add(own.inFlight, count);
      for (const [at, { dropped, counts, timesUs, longestUs }] of seconds) {
        const second = own.seconds.get(at) ?? { dropped: 0, counts: [], timesUs: [], longestUs: 0 };
        second.longestUs = Math.max(second.longestUs, longestUs);
        own.seconds.set(at, second);
        second.dropped += dropped;
        for (const count of counts) add(second.counts, count);
        second.timesUs.push(...timesUs);
      }
    }
  }
}

function add(counts: EventCount[], one: EventCount): void {
  const known = counts.find(
    ({ outcome, what, stream, retryAfter }) =>
      outcome === one.outcome && what === one.what && stream === one.stream && retryAfter === one.retryAfter,
  );
  if (known === undefined) counts.push({ ...one });
  else known.count += one.count;
}
