import { type Random, sleep } from "../../core/index.ts";
import { classify, type Retry } from "../../dialects/index.ts";
import { nowUs } from "../../http/load-client/index.ts";
import type { Observation } from "../../judging/index.ts";
import { Parallelism } from "./parallelism.ts";
import { DEFAULT_RETRY, decideRetry, type RetryOptions } from "./retry-rules.ts";

export interface ClientsOptions<O extends Observation> {
  /** Number of clients; each needs one request served. */
  readonly clients: number;
  /**
   * Maximum number of requests in flight; reduced by concurrency denials, never below 1, and raised again later. Default: all
   * clients.
   */
  readonly parallel?: number;
  readonly retryAfter: "compliant" | "ignoring";
  /** Sends one attempt of one client; `undefined` if it could not be sent. A retry is a new request. */
  readonly attempt: (client: number, attempts: number) => Promise<O | undefined>;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly retry?: RetryOptions;
  /** Nothing is sent after this time, ms from the start. */
  readonly untilMs?: number;
  /** Added to every Retry-After wait, ms: timers must not fire early. */
  readonly graceMs?: number;
}

export interface ClientsOutcome<O extends Observation> {
  readonly served: number;
  readonly aborted: number;
  readonly uncertain: number;
  readonly retries: number;
  /** Attempts sent before the Retry-After of the previous response had passed: a bug of ours. */
  readonly earlySends: number;
  /** Attempts after a response that forbids retries: a bug of ours. */
  readonly forbiddenRetries: number;
  /** The lowest limit on requests in flight during the run. */
  readonly parallel: number;
  /** Attempts of each client, in order. */
  readonly attempts: readonly (readonly O[])[];
}

/** A client that ignores Retry-After retries after this time, ms: retrying immediately would only measure our own loop. */
const IGNORING_MS = 20;

/**
 * Clients that follow the retry rules, or ignore them, until each is served or stops trying. The audit is based on what was
 * actually sent, not on what was decided.
 */
export async function runClients<O extends Observation>(options: ClientsOptions<O>): Promise<ClientsOutcome<O>> {
  const { clients, attempt, random, signal, retryAfter, retry = DEFAULT_RETRY, graceMs = 5 } = options;
  const startMs = performance.now();
  const attempts: O[][] = Array.from({ length: clients }, () => []);
  const parallelism = new Parallelism(options.parallel ?? clients);
  const counts = { served: 0, aborted: 0, uncertain: 0 };
  const isLate = () => signal.aborted || performance.now() - startMs > (options.untilMs ?? Number.POSITIVE_INFINITY);
  const client = async (index: number) => {
    const own = attempts[index] as O[];
    for (;;) {
      await parallelism.enter();
      const exchange = isLate() ? undefined : await attempt(index, own.length);
      parallelism.leave();
      if (exchange === undefined) {
        counts.aborted++;
        return;
      }
      own.push(exchange);
      const may = retryOf(exchange);
      if (retryAfter === "ignoring" && may !== "served") {
        if (own.length >= retry.maxAttempts || !(await sleep(IGNORING_MS, signal))) {
          counts.aborted++;
          return;
        }
        continue;
      }
      const decision = decideRetry(
        { retry: may, reason: reasonOf(exchange), retryAfterMs: exchange.retryAfterWaitMs, attempts: own.length },
        random,
        retry,
      );
      if (decision.kind === "done") {
        counts.served++;
        parallelism.served();
      }
      if (decision.kind === "stop") counts.aborted++;
      if (decision.kind === "uncertain") counts.uncertain++;
      if (decision.kind !== "wait") return;
      if (decision.fewer) parallelism.denied();
      const elapsedMs = (nowUs() - exchange.endUs) / 1_000;
      await sleep(decision.ms - elapsedMs + graceMs, signal);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  return { ...counts, parallel: parallelism.lowest, attempts, ...audit(attempts) };
}

/** Whether our deadline passed without a response: the request may have been served. */
export const isTimedOut = ({ what }: Observation): boolean => what === "deadline" || what === "idle-timeout";

const reasonOf = ({ outcome, what }: Observation): string | undefined => (outcome === "denied" ? what : undefined);

/** What the retry rules require after an observation. */
function retryOf(one: Observation): Retry | "served" {
  const { outcome, status } = one;
  const classified = classify({
    status,
    reason: reasonOf(one),
    complete: outcome === "admitted" || outcome === "denied" || (status ?? 0) >= 500,
    timedOut: isTimedOut(one),
  });
  return classified.kind === "admitted" ? "served" : classified.retry;
}

/** Checks every attempt against the preceding response. */
export function audit(
  clients: readonly (readonly Observation[])[],
): Pick<ClientsOutcome<Observation>, "retries" | "earlySends" | "forbiddenRetries"> {
  let retries = 0;
  let earlySends = 0;
  let forbiddenRetries = 0;
  for (const attempts of clients) {
    for (const [index, next] of attempts.entries()) {
      const before = attempts[index - 1];
      if (before === undefined) continue;
      retries++;
      const retry = retryOf(before);
      if (retry === "never" || retry === "uncertain" || retry === "served") forbiddenRetries++;
      if (
        retry === "retry-after" &&
        before.retryAfterWaitMs !== undefined &&
        next.sentUs < before.endUs + before.retryAfterWaitMs * 1_000
      )
        earlySends++;
    }
  }
  return { retries, earlySends, forbiddenRetries };
}
