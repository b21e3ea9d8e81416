import { type LoadExchange, nowUs, type PreparedRequest, type RequestSender } from "../../http/load-client/index.ts";
import type { Retrying, RetryTally } from "../measure/retry-tally.ts";
import { Tally } from "../measure/tally.ts";
import { type Arrivals, type ClosedArrivals, scheduleOf } from "../schedule/arrivals.ts";
import { type Arrival, arrivalsOf, type Part } from "../schedule/schedule.ts";
import type { Sessions } from "../schedule/sessions.ts";
import type { LoadGuard } from "./load-guard.ts";
import { outcomeOf, type RequestOutcome } from "./outcome.ts";
import type { ReadReason } from "./read-reason.ts";

/** Reports one finished request. The exchange is not kept: copy what is needed. */
export type OnRequest = (exchange: LoadExchange, result: RequestOutcome) => void;

export interface DriveOptions {
  readonly sender: RequestSender;
  /** Counts the measured arrivals; the caller may read it during the run. */
  readonly tally: Tally;
  readonly arrivals: Arrivals;
  readonly seed: number;
  /** Creates the request of an arrival. */
  readonly prepared: (index: number) => PreparedRequest;
  readonly reason: ReadReason;
  readonly onRequest?: OnRequest | undefined;
  /** Reports a measured arrival that could not be sent, by its due time on the clock of `nowUs`. */
  readonly onDropped?: ((dueUs: number) => void) | undefined;
  /** Decides what happens to denied requests; a retry is a new request and counted as one. */
  readonly retries?: RetryTally | undefined;
  /** Name of the phase, for the samples of denials. */
  readonly name?: string;
  /** Open loop: what follows a response, if an arrival is a session of several turns. */
  readonly sessions?: Pick<Sessions, "after" | "abandon"> | undefined;
  /** Stops sending; requests in flight are awaited. */
  readonly signal: AbortSignal;
  /** Consulted before each request; default: only the schedule limits the number. */
  readonly guard?: LoadGuard | undefined;
  /** Arrivals before this time in the phase are sent but not measured, seconds. */
  readonly warmupS?: number;
  /** Spin the event loop for the last millisecond if arrivals are far apart; default true. */
  readonly precise?: boolean;
  /** If several workers share a schedule: this one sends every `of`-th arrival, starting at `index`. */
  readonly part?: Part | undefined;
  /** Start on the clock of `nowUs`, if several workers have to start together; default: immediately. */
  readonly startUs?: number | undefined;
  /**
   * Open loops: arrivals that were due before this time are dropped and counted instead of being sent all at once. For a part
   * that starts after the others; on the clock of `nowUs`.
   */
  readonly dropBeforeUs?: number | undefined;
}

export interface Driven {
  /** Start and end of the phase, on the clock of `nowUs`. */
  readonly startUs: number;
  readonly endUs: number;
}

/** Delay of the first due time after the call, µs: time to set the first timer. */
const LEAD_US = 5_000;
/** Node's timers fire up to a millisecond late; the last part of a wait spins the event loop. */
const SPIN_US = 1_200;
/** Below this interval, one timer per millisecond is precise enough, and spinning would waste a core. */
const MIN_TIMER_US = 4_000;

/**
 * Sends a workload and counts the outcomes.
 *
 * Open loop: the schedule is fixed before the run. A late request is still sent, and its response time counts from its due time;
 * an arrival that finds all connections in use is dropped and counted. Closed loop: the next request waits for a response.
 */
export function drive(options: DriveOptions): Promise<Driven> {
  return options.arrivals.kind === "closed"
    ? driveClosed(options, options.arrivals)
    : driveOpen(options, options.arrivals);
}

/** Counts one request in a tally, notifies the caller, and schedules retries. */
function counting(
  { sender, reason, onRequest, onDropped, retries, signal, guard, name = "" }: DriveOptions,
  tally: Tally,
  settled: () => void,
) {
  const send = (prepared: PreparedRequest, dueUs: number, onEnd?: OnRequest, before?: Retrying): boolean => {
    if (guard?.take() === false) return false;
    tally.offered(dueUs);
    const sent = sender.send(prepared, dueUs, (exchange) => {
      // Gauntlet ended it when the run was interrupted, which says nothing about the gateway.
      if (exchange.ending === "aborted") {
        tally.withdrawn(dueUs);
        onEnd?.(exchange, outcomeOf(exchange, reason));
        return settled();
      }
      // Counted when it has ended, because only then is it known when it was written.
      tally.sent(dueUs, exchange.sentUs === 0 ? exchange.endUs : exchange.sentUs, exchange.inFlight);
      const result = outcomeOf(exchange, reason);
      tally.ended(exchange, result.outcome);
      guard?.note(exchange, result);
      onRequest?.(exchange, result);
      const finish = () => {
        onEnd?.(exchange, result);
        settled();
      };
      const again = retries?.ended(exchange, result, before, name, tally.startUs);
      if (again === undefined || signal.aborted) return finish();
      const retry = () => {
        if (signal.aborted || !send(prepared, nowUs(), onEnd, again)) finish();
      };
      setTimeout(retry, again.waitMs);
    });
    if (!sent) drop(dueUs);
    return sent;
  };
  const drop = (dueUs: number): void => {
    tally.dropped(dueUs);
    onDropped?.(dueUs);
  };
  return {
    send,
    drop: (dueUs: number): void => {
      tally.offered(dueUs);
      drop(dueUs);
    },
  };
}

function driveOpen(options: DriveOptions, arrivals: Arrivals): Promise<Driven> {
  const { tally, seed, prepared, signal, precise = true, warmupS = 0, part = { index: 0, of: 1 } } = options;
  const { dropBeforeUs = Number.NEGATIVE_INFINITY } = options;
  const nextArrival = arrivalsOf(scheduleOf(arrivals, seed), part);
  const startUs = options.startUs ?? nowUs() + LEAD_US;
  const measuredFromUs = startUs + warmupS * 1_000_000;
  tally.beginAt(measuredFromUs);
  const warmup = new Tally(startUs);
  return new Promise((resolve) => {
    let outstanding = 0;
    let over = false;
    let next: Arrival | undefined;
    let intervalUs = 0;
    const settled = () => {
      outstanding--;
      if (over && outstanding === 0) finish();
    };
    const measured = counting(options, tally, settled);
    const unmeasured = counting(
      { ...options, onRequest: undefined, onDropped: undefined, retries: undefined },
      warmup,
      settled,
    );
    const finish = () => resolve({ startUs: measuredFromUs, endUs: nowUs() });
    const launch = (ordinal: number, request: PreparedRequest, dueUs: number) => {
      const into = dueUs < measuredFromUs ? unmeasured : measured;
      if (into.send(request, dueUs, follow?.(ordinal))) outstanding++;
      else options.sessions?.abandon(ordinal);
    };
    const follow = following(options, { launch, begun: () => outstanding++, settled });
    const advance = () => {
      const beforeUs = next?.atUs ?? 0;
      next = nextArrival();
      intervalUs = (next?.atUs ?? 0) - beforeUs;
    };
    const end = () => {
      over = true;
      signal.removeEventListener("abort", end);
      if (outstanding === 0) finish();
    };
    const turn = () => {
      if (over) return;
      const now = nowUs();
      while (next !== undefined && startUs + next.atUs <= now) {
        const dueUs = startUs + next.atUs;
        if (dueUs < dropBeforeUs) (dueUs < measuredFromUs ? unmeasured : measured).drop(dueUs);
        else launch(next.ordinal, prepared(next.ordinal), dueUs);
        advance();
      }
      if (next === undefined) return end();
      const waitUs = startUs + next.atUs - nowUs();
      if (!precise) setTimeout(turn, Math.max(1, waitUs / 1_000));
      else if (waitUs > MIN_TIMER_US) setTimeout(turn, Math.floor((waitUs - SPIN_US) / 1_000));
      else if (intervalUs > MIN_TIMER_US) setImmediate(turn);
      else setTimeout(turn, 1);
    };
    signal.addEventListener("abort", end);
    if (signal.aborted) return end();
    advance();
    turn();
  });
}

interface Following {
  readonly launch: (ordinal: number, request: PreparedRequest, dueUs: number) => void;
  /** Called when a session starts its think time, which is awaited like a request, and when the think time ends. */
  readonly begun: () => void;
  readonly settled: () => void;
}

/** Sends the next turns of sessions, each after its think time. @returns the callback for a session's response. */
function following(
  { sessions, signal }: DriveOptions,
  { launch, begun, settled }: Following,
): ((ordinal: number) => OnRequest) | undefined {
  if (sessions === undefined) return undefined;
  const thinking = new Set<NodeJS.Timeout>();
  const leave = () => {
    for (const timer of thinking) clearTimeout(timer);
    for (let left = thinking.size; left > 0; left--) settled();
    thinking.clear();
  };
  signal.addEventListener("abort", leave, { once: true });
  return (ordinal) => (exchange, result) => {
    const turn = signal.aborted ? undefined : sessions.after(ordinal, exchange, result);
    if (turn === undefined) return;
    begun();
    const dueUs = exchange.endUs + turn.waitMs * 1_000;
    const send = () => {
      thinking.delete(timer);
      launch(ordinal, turn.prepared, dueUs);
      settled();
    };
    const timer = setTimeout(send, Math.max(0, Math.ceil((dueUs - nowUs()) / 1_000)));
    thinking.add(timer);
  };
}

/** One worker's share of a total; the shares of all workers add up to exactly the total. */
export function shareOf(all: number, { index, of }: Part): number {
  return Math.floor((all + of - 1 - index) / of);
}

function driveClosed(
  options: DriveOptions,
  { inFlight, requests, durationS, rampS = 1 }: ClosedArrivals,
): Promise<Driven> {
  const { tally, prepared, signal, warmupS = 0, part = { index: 0, of: 1 } } = options;
  const startUs = options.startUs ?? nowUs();
  const measuredFromUs = startUs + warmupS * 1_000_000;
  const endUs = durationS === undefined ? Number.POSITIVE_INFINITY : measuredFromUs + durationS * 1_000_000;
  const max = requests === undefined ? Number.POSITIVE_INFINITY : shareOf(requests, part);
  const streams = Math.min(shareOf(inFlight, part), max);
  const allStreams = Math.min(inFlight, requests ?? Number.POSITIVE_INFINITY);
  tally.beginAt(measuredFromUs);
  const warmup = new Tally(startUs);
  return new Promise((resolve) => {
    let index = 0;
    let running = 0;
    let waiting = streams;
    const timers: NodeJS.Timeout[] = [];
    const settled = () => undefined;
    const measured = counting(options, tally, settled);
    const unmeasured = counting(
      { ...options, onRequest: undefined, onDropped: undefined, retries: undefined },
      warmup,
      settled,
    );
    const finish = () => resolve({ startUs: measuredFromUs, endUs: nowUs() });
    const next = () => {
      const now = nowUs();
      if (index >= max || now >= endUs || signal.aborted) {
        running--;
        if (running === 0 && waiting === 0) finish();
        return;
      }
      // A timer may fire slightly before the common start: without a warm-up, everything is measured.
      const into = warmupS > 0 && now < measuredFromUs ? unmeasured : measured;
      // Yield to the event loop: a response that fails immediately must not cause endless recursion.
      if (!into.send(prepared(index++ * part.of + part.index), now, () => setImmediate(next))) setTimeout(next, 10);
    };
    const begin = () => {
      waiting--;
      running++;
      next();
    };
    signal.addEventListener(
      "abort",
      () => {
        for (const timer of timers) clearTimeout(timer);
        waiting = 0;
        if (running === 0) finish();
      },
      { once: true },
    );
    if (streams === 0) finish();
    const leadMs = Math.max(0, (startUs - nowUs()) / 1_000);
    for (let stream = 0; stream < streams; stream++) {
      const position = stream * part.of + part.index;
      timers.push(setTimeout(begin, leadMs + (position * rampS * 1_000) / allStreams));
    }
  });
}
