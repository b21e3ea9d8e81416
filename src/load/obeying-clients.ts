import { type Random, sleep } from "../core/index.ts";
import { classify } from "../dialects/index.ts";
import { nowUs } from "./http/load-exchange.ts";
import { DEFAULT_RETRY, decideRetry, type RetryOptions } from "./retry-rules.ts";

/** One attempt as the clients see it. */
export interface Attempt {
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly complete: boolean;
  readonly timedOut: boolean;
  readonly hintMs: number | undefined;
  /** On the clock of `nowUs`. */
  readonly sentUs: number;
  readonly endUs: number;
}

export interface ClientsOptions<A extends Attempt> {
  /** Clients that want one request served each. */
  readonly clients: number;
  /** Most requests in flight at first; falls with concurrency denials, never below 1. Default: all clients. */
  readonly parallel?: number;
  readonly behaviour: "obey" | "hammer";
  /** Sends one attempt of one client; `undefined` when it could not be sent. A repeated one is a new request. */
  readonly attempt: (client: number, attempts: number) => Promise<A | undefined>;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly retry?: RetryOptions;
  /** Nothing is begun after this, ms from the start. */
  readonly untilMs?: number;
  /** Added to every told wait, ms: timers must not fire early. */
  readonly graceMs?: number;
}

export interface ClientsOutcome<A extends Attempt> {
  readonly served: number;
  readonly gaveUp: number;
  readonly uncertain: number;
  readonly retries: number;
  /** Attempts sent before the hint of the one before had passed: an error of ours. */
  readonly earlySends: number;
  /** Attempts after an answer that forbids them: an error of ours. */
  readonly forbiddenRetries: number;
  /** Lowest number in flight that was allowed in the end. */
  readonly parallel: number;
  /** Attempts of each client, in order. */
  readonly attempts: readonly (readonly A[])[];
}

/** A client that ignores denials tries again after this, ms: at once would only measure our own loop. */
const HAMMER_MS = 20;

/**
 * Clients that follow the retry rules, or ignore them, until each is served or gives up. What they do is audited from
 * what was sent, not from what was decided.
 */
export async function runClients<A extends Attempt>(options: ClientsOptions<A>): Promise<ClientsOutcome<A>> {
  const { clients, attempt, random, signal, behaviour, retry = DEFAULT_RETRY, graceMs = 5 } = options;
  const startMs = performance.now();
  const attempts: A[][] = Array.from({ length: clients }, () => []);
  let allowed = options.parallel ?? clients;
  let running = 0;
  const waiting: (() => void)[] = [];
  const counts = { served: 0, gaveUp: 0, uncertain: 0 };
  const isLate = () => signal.aborted || performance.now() - startMs > (options.untilMs ?? Number.POSITIVE_INFINITY);
  const enter = async () => {
    while (running >= allowed) await new Promise<void>((go) => waiting.push(go));
    running++;
  };
  const leave = () => {
    running--;
    waiting.shift()?.();
  };
  const client = async (index: number) => {
    const own = attempts[index] as A[];
    for (;;) {
      await enter();
      const answered = isLate() ? undefined : await attempt(index, own.length);
      leave();
      if (answered === undefined) {
        counts.gaveUp++;
        return;
      }
      own.push(answered);
      const { retry: may } = asOutcome(answered);
      if (behaviour === "hammer" && may !== "served") {
        if (own.length >= retry.maxAttempts || !(await sleep(HAMMER_MS, signal))) {
          counts.gaveUp++;
          return;
        }
        continue;
      }
      const decision = decideRetry(
        { retry: may, reason: answered.reason, hintMs: answered.hintMs, attempts: own.length },
        random,
        retry,
      );
      if (decision.kind === "done") counts.served++;
      if (decision.kind === "stop") counts.gaveUp++;
      if (decision.kind === "uncertain") counts.uncertain++;
      if (decision.kind !== "wait") return;
      // One fewer per denial: a burst of ten against four slots has six denials, and four are right.
      if (decision.fewer) allowed = Math.max(1, allowed - 1);
      const elapsedMs = (nowUs() - answered.endUs) / 1_000;
      await sleep(decision.ms - elapsedMs + graceMs, signal);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  return { ...counts, parallel: allowed, attempts, ...audit(attempts) };
}

function asOutcome({ status, reason, complete, timedOut }: Attempt): {
  retry: Parameters<typeof decideRetry>[0]["retry"];
} {
  const outcome = classify({ status, reason, complete, timedOut });
  return { retry: outcome.kind === "admitted" ? "served" : outcome.retry };
}

/** Looks at what was sent: every attempt against the answer before it. */
export function audit(
  clients: readonly (readonly Attempt[])[],
): Pick<ClientsOutcome<Attempt>, "retries" | "earlySends" | "forbiddenRetries"> {
  let retries = 0;
  let earlySends = 0;
  let forbiddenRetries = 0;
  for (const attempts of clients) {
    for (const [index, next] of attempts.entries()) {
      const before = attempts[index - 1];
      if (before === undefined) continue;
      retries++;
      const { retry } = asOutcome(before);
      if (retry === "never" || retry === "uncertain" || retry === "served") forbiddenRetries++;
      if (retry === "as-told" && before.hintMs !== undefined && next.sentUs < before.endUs + before.hintMs * 1_000)
        earlySends++;
    }
  }
  return { retries, earlySends, forbiddenRetries };
}
