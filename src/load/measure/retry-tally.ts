import { type Random, seededRandom } from "../../core/index.ts";
import { classify } from "../../dialects/index.ts";
import type { LoadExchange } from "../../http/load-client/index.ts";
import { shareOfTested } from "../../limits/index.ts";
import { Histogram, type StoredHistogram } from "../../metrics/index.ts";
import type { RetryAfterFigures } from "../../record/index.ts";
import { DEFAULT_RETRY, decideRetry } from "../schedule/retry-rules.ts";
import type { RequestOutcome } from "../send/outcome.ts";

type Clients = RetryAfterFigures["clients"];
type Group = RetryAfterFigures["groups"][number];

/** A client that ignores Retry-After retries after this time, ms. */
const IGNORING_MS = 20;
/** Only the waits for this denial can be tested against the outcomes of other requests. */
const RATE = "rate_limit_exceeded";
/** Timers may fire slightly early, ms. */
const GRACE_MS = 5;
const MAX_SAMPLES = 400;
const COUNTS = [
  "denials",
  "present",
  "usable",
  "sufficient",
  "insufficient",
  "contended",
  "earlyProbes",
  "earlyAdmitted",
] as const satisfies readonly (keyof Group)[];

/** What a worker reports. */
export interface StoredRetries {
  readonly groups: readonly {
    readonly group: Group;
    readonly requested: StoredHistogram;
    readonly actual: StoredHistogram;
  }[];
  readonly client: RetryAfterFigures["client"];
  readonly samples: RetryAfterFigures["samples"];
}

interface Open {
  readonly group: Group;
  readonly requested: Histogram;
  readonly actual: Histogram;
}

/** One denied request that will be sent again. */
export interface Retrying {
  readonly attempts: number;
  /** From now, ms. */
  readonly waitMs: number;
  readonly denied: Pick<LoadExchange, "sentUs" | "endUs" | "retryAfterWaitMs"> & { readonly open: Open };
}

/**
 * What happens to the denied requests of a workload: no retries, retries by the rules, or immediate retries. Its size does not
 * depend on the number of requests. A wait is contended if another request was admitted meanwhile, or may have been because it
 * has not ended: that request may have used the freed capacity.
 */
export class RetryTally {
  readonly clients: Clients;
  /** Rate waits with no other request between the denial and the retry: only the gateway decided their outcome. */
  readonly alone = { tested: 0, sufficient: 0 };
  readonly #isWhole: boolean;
  /** When the latest ended request and the latest admitted one were sent, µs. */
  #lastSentUs = Number.NEGATIVE_INFINITY;
  #lastAdmittedUs = Number.NEGATIVE_INFINITY;
  readonly #random: Random;
  readonly #groups = new Map<string, Open>();
  readonly #client = { earlySends: 0, forbiddenRetries: 0, retries: 0, aborted: 0, uncertain: 0 };
  readonly #samples: RetryAfterFigures["samples"] = [];

  /** @param isWhole whether this tally sees every request of the run. Other requests may be contention. */
  constructor(clients: Clients, seed: number, isWhole: boolean) {
    this.clients = clients;
    this.#isWhole = isWhole;
    this.#random = seededRandom(seed);
  }

  /** Records how an attempt ended. @returns when to retry, or `undefined` if this was the last attempt. */
  ended(
    exchange: LoadExchange,
    result: RequestOutcome,
    before: Retrying | undefined,
    phase: string,
    originUs: number,
  ): Retrying | undefined {
    if (before !== undefined) this.#retried(exchange, result, before);
    this.#lastSentUs = Math.max(this.#lastSentUs, exchange.sentUs);
    if (result.outcome === "admitted") this.#lastAdmittedUs = Math.max(this.#lastAdmittedUs, exchange.sentUs);
    if (result.outcome !== "denied") return undefined;
    const { retryAfterWaitMs } = exchange;
    const open = this.#groupOf(exchange.prepared, result.what);
    open.group.denials++;
    if (exchange.retryAfter !== undefined) open.group.present++;
    if (retryAfterWaitMs !== undefined) {
      open.group.usable++;
      open.requested.record(retryAfterWaitMs * 1_000);
    }
    this.#sample(exchange, result.what, retryAfterWaitMs, phase, originUs);
    const attempts = before?.attempts ?? 1;
    const { retry } = classify({ status: exchange.status, reason: result.what, complete: true }) as {
      retry: "never" | "retry-after";
    };
    const waitMs = this.#waitMs(retry, result.what, retryAfterWaitMs, attempts);
    return waitMs === undefined
      ? undefined
      : {
          attempts: attempts + 1,
          waitMs,
          denied: { sentUs: exchange.sentUs, endUs: exchange.endUs, retryAfterWaitMs, open },
        };
  }

  #waitMs(
    retry: "never" | "retry-after",
    reason: string,
    retryAfterWaitMs: number | undefined,
    attempts: number,
  ): number | undefined {
    if (this.clients === "none") return undefined;
    if (this.clients === "ignoring") return attempts < DEFAULT_RETRY.maxAttempts ? IGNORING_MS : undefined;
    const decision = decideRetry({ retry, reason, retryAfterMs: retryAfterWaitMs, attempts }, this.#random);
    if (decision.kind === "wait") return decision.ms + GRACE_MS;
    this.#client.aborted++;
    return undefined;
  }

  /** The outcome of a retry, audited from what was actually sent. */
  #retried(exchange: LoadExchange, result: RequestOutcome, { denied }: Retrying): void {
    const { sentUs, endUs, retryAfterWaitMs, open } = denied;
    this.#client.retries++;
    if (retryAfterWaitMs !== undefined && exchange.sentUs < endUs + retryAfterWaitMs * 1_000) this.#client.earlySends++;
    const isKnown = this.#isWhole && exchange.inFlight <= 1 && open.group.reason === RATE;
    const isAlone = isKnown && this.#lastSentUs <= sentUs;
    if (result.outcome === "admitted") {
      open.actual.record(exchange.sentUs - endUs);
      if (retryAfterWaitMs === undefined) return;
      open.group.sufficient++;
      if (isAlone) {
        this.alone.tested++;
        this.alone.sufficient++;
      }
    } else if (result.outcome === "denied" && retryAfterWaitMs !== undefined) {
      const isInsufficient = isKnown && result.what === RATE && this.#lastAdmittedUs <= sentUs;
      if (!isInsufficient) open.group.contended++;
      else {
        open.group.insufficient++;
        if (isAlone) this.alone.tested++;
      }
    }
  }

  #groupOf({ dialect, stream }: Pick<Group, "dialect" | "stream">, reason: string): Open {
    const name = `${reason} ${dialect} ${stream}`;
    const known = this.#groups.get(name);
    if (known !== undefined) return known;
    const counts = Object.fromEntries(COUNTS.map((count) => [count, 0])) as Record<(typeof COUNTS)[number], number>;
    const group: Group = { reason, dialect, stream, ...counts, retryAfterWaitMs: null, actualMs: null };
    const made = { group, requested: new Histogram(), actual: new Histogram() };
    this.#groups.set(name, made);
    return made;
  }

  #sample(
    exchange: LoadExchange,
    reason: string,
    retryAfterWaitMs: number | undefined,
    phase: string,
    originUs: number,
  ): void {
    if (this.#samples.length >= MAX_SAMPLES) return;
    const { retryAfter, prepared, endUs } = exchange;
    this.#samples.push({
      phase,
      atS: (endUs - originUs) / 1_000_000,
      reason,
      dialect: prepared.dialect,
      stream: prepared.stream,
      ...(retryAfter === undefined ? {} : { header: retryAfter }),
      retryAfterWaitMs: retryAfterWaitMs ?? null,
      actualMs: null,
      outcome: "untested",
    });
  }

  store(): StoredRetries {
    const groups = [...this.#groups.values()].map(({ group, requested, actual }) => ({
      group,
      requested: requested.store(),
      actual: actual.store(),
    }));
    return { groups, client: this.#client, samples: this.#samples };
  }

  /** Adds another worker's counts. */
  merge({ groups, client, samples }: StoredRetries): void {
    for (const { group, requested, actual } of groups) {
      const own = this.#groupOf(group, group.reason);
      for (const name of COUNTS) own.group[name] += group[name];
      own.requested.merge(Histogram.restore(requested));
      own.actual.merge(Histogram.restore(actual));
    }
    for (const name of Object.keys(this.#client) as (keyof typeof client)[]) this.#client[name] += client[name];
    this.#samples.push(...samples.slice(0, MAX_SAMPLES - this.#samples.length));
  }

  /** @returns `null` if nothing was denied. */
  close(): RetryAfterFigures | null {
    if (this.#groups.size === 0) return null;
    const groups = [...this.#groups.values()].map(({ group, requested, actual }) => ({
      ...group,
      retryAfterWaitMs: requested.quantilesMs(),
      actualMs: actual.quantilesMs(),
    }));
    const sufficient = groups.reduce((sum, group) => sum + group.sufficient, 0);
    const tested = sufficient + groups.reduce((sum, group) => sum + group.insufficient, 0);
    return {
      clients: this.clients,
      groups,
      tested,
      sufficient,
      sufficientShare: shareOfTested(sufficient, tested),
      samples: this.#samples,
      client: this.#client,
      fleet: null,
    };
  }
}
