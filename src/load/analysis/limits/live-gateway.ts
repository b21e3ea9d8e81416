import type { Share } from "../../../budget/index.ts";
import { median, onAbort, sleep } from "../../../core/index.ts";
import { endpointUrl } from "../../../dialects/index.ts";
import { type LoadExchange, nowUs, type PreparedRequest, Sender } from "../../../http/load-client/index.ts";
import { type Decision, isUnnamedLimit, type RequestKind } from "../../../limits/index.ts";
import { temporaryLimitOf } from "../../../requirements/index.ts";
import { outcomeOf } from "../../send/outcome.ts";
import { type ReadReason, reasonReader } from "../../send/read-reason.ts";
import type { Hold } from "./concurrency-experiment.ts";
import type { GatewayUnderTest } from "./gateway-under-test.ts";
import { type AnalysisAccount, requestsOf } from "./request-kinds.ts";

export interface LiveOptions extends AnalysisAccount {
  readonly maxConnections: number;
  /** What may be sent: a share of the command's budget. */
  readonly share: Share;
  readonly durationMs: number;
  readonly stop: AbortSignal;
  /** Called if the first requests were all rejected with 401 or 403, so that this key cannot be analysed. */
  readonly onRejected?: (() => void) | undefined;
}

/** Number of first requests that must all be rejected. */
const FIRST = 3;

/** Minimum slack, microseconds: timers, the event loop and any proxy on the way. */
const MIN_SLACK_US = 2_000;

/** Number of recent round trips that determine what is usual. */
const RECENT = 101;

/** Maximum time that a stream is held, ms. */
const MAX_HOLD_MS = 120_000;

/** Time to analyse what was sent before an interruption, ms. */
const ANALYSIS_AFTER_STOP_MS = 1_000;

/**
 * An admitted request that takes longer than others by more than this was slowed by the model, not by a stall, microseconds.
 */
const MAX_STALL_US = 200_000;

/** The actual gateway: one account, its keys, and everything that was sent to it. */
export class LiveGateway implements GatewayUnderTest, AsyncDisposable {
  readonly decisions: Decision[] = [];
  readonly kinds: readonly RequestKind[];
  readonly #options: LiveOptions;
  readonly #sender: Sender;
  readonly #read: ReadReason;
  readonly #prepared: ReadonlyMap<RequestKind, PreparedRequest>;
  readonly #over: NodeJS.Timeout;
  readonly #mustEnd = new AbortController();
  readonly #stopping: Disposable;
  readonly #startUs = nowUs();
  /** Of denials and of admitted requests. */
  readonly #roundTripsUs: number[] = [];
  readonly #servedUs: number[] = [];
  readonly wallOffsetUs = Date.now() * 1_000 - nowUs();
  /** Requests of every kind, including those of the concurrency experiment. */
  sent = 0;
  #rejected = 0;

  constructor(options: LiveOptions) {
    this.#options = options;
    const { target } = options;
    this.#read = reasonReader(target);
    this.#sender = new Sender({
      url: endpointUrl(target.baseUrl, "chat"),
      maxConnections: options.maxConnections,
      // Streams are held on purpose: for as long as it takes to reach the concurrency limit.
      deadlineMs: Math.max(MAX_HOLD_MS, target.timeouts.responseMs),
      headMs: target.timeouts.responseMs,
      idleMs: target.timeouts.idleMs,
      http: target.http,
    });
    // A gateway that does not respond must not use more time than the limit.
    this.#over = setTimeout(() => this.#sender.abortAll(), options.durationMs);
    this.#stopping = onAbort(options.stop, () => {
      setTimeout(() => this.#mustEnd.abort(), ANALYSIS_AFTER_STOP_MS).unref();
    });
    this.#prepared = requestsOf(options);
    this.kinds = [...this.#prepared.keys()].filter((kind) => kind !== "main");
  }

  /** Opens connections in advance. @returns the reason if none could be opened. */
  async open(count: number): Promise<string | undefined> {
    return (await this.#sender.open(count)) > 0 ? undefined : (this.#sender.lastFailure ?? "no connection");
  }

  get mustEnd(): AbortSignal {
    return this.#mustEnd.signal;
  }

  get left() {
    const { share, durationMs, stop } = this.#options;
    const ms = durationMs - (nowUs() - this.#startUs) / 1_000;
    return { requests: stop.aborted ? 0 : share.planned - this.sent, ms };
  }

  get elapsedMs(): number {
    return (nowUs() - this.#startUs) / 1_000;
  }

  /** Half the usual round trip of a denial: a denial is decided somewhere between its sending and its response. */
  get slackUs(): number {
    const sorted = [...this.#roundTripsUs].sort((a, b) => a - b);
    return Math.max(MIN_SLACK_US, (sorted[Math.floor(sorted.length * 0.9)] ?? 0) / 2 + 500);
  }

  nowUs(): number {
    return nowUs();
  }

  async wait(ms: number): Promise<boolean> {
    const bounded = Math.min(ms, this.left.ms);
    return (await sleep(Math.max(0, bounded), this.#options.stop)) && bounded === ms;
  }

  send(kind: RequestKind): Promise<Decision | undefined> {
    const prepared = this.#prepared.get(kind);
    const { requests, ms } = this.left;
    if (prepared === undefined || requests <= 0 || ms <= 0) return Promise.resolve(undefined);
    const ordinal = ++this.sent;
    return new Promise((resolve) => {
      const dueUs = nowUs();
      const sent = this.#sender.send(prepared, dueUs, (exchange) => {
        if (exchange.ending === "aborted") return resolve(undefined);
        const decision = this.#trialOf(ordinal, kind, exchange);
        this.decisions.push(decision);
        if (exchange.status === 401 || exchange.status === 403) this.#rejected++;
        if (this.#rejected === FIRST && this.decisions.length === FIRST) this.#options.onRejected?.();
        resolve(decision);
      });
      if (!sent) resolve(undefined);
    });
  }

  /** Sends a long request that is observed while it runs. @returns `undefined` if the budget is used up. */
  hold(prepared: PreparedRequest): Hold | undefined {
    if (this.left.requests <= 0 || this.left.ms <= 0) return undefined;
    const own: PreparedRequest = { ...prepared };
    const read = this.#read;
    const sentUs = nowUs();
    let ended: LoadExchange | undefined;
    if (!this.#sender.send(own, sentUs, (exchange) => (ended = exchange))) return undefined;
    this.sent++;
    const now = () => ended ?? this.#sender.underWay(own);
    return {
      sentUs,
      get headUs() {
        const headUs = now()?.headUs ?? 0;
        return headUs === 0 ? undefined : headUs;
      },
      get endUs() {
        return ended?.endUs;
      },
      verdict: () => {
        if (ended !== undefined) return this.verdictOf(ended);
        const status = now()?.status ?? 0;
        return status >= 200 && status < 300 ? "admitted" : undefined;
      },
      get unnamed() {
        return ended !== undefined && isUnnamedLimit({ ...outcomeOf(ended, read), status: ended.status });
      },
      leave: () => {
        const running = this.#sender.underWay(own);
        if (running !== undefined) this.#sender.abort(running);
      },
    };
  }

  verdictOf(exchange: LoadExchange): Decision["verdict"] {
    const { outcome, what } = outcomeOf(exchange, this.#read);
    if (outcome === "admitted" || outcome === "unfinished") return "admitted";
    // An unnamed limit is attributed to the rate: few requests are in flight here.
    return temporaryLimitOf(what) ?? (exchange.status === 429 ? "rate" : "failed");
  }

  #trialOf(ordinal: number, kind: RequestKind, exchange: LoadExchange): Decision {
    const verdict = this.verdictOf(exchange);
    const sentUs = exchange.sentUs === 0 ? exchange.dueUs : exchange.sentUs;
    const roundTripUs = (exchange.headUs === 0 ? exchange.endUs : exchange.headUs) - sentUs;
    // Denials arrive immediately; the round trip of an admitted request counts only if it took longer than others.
    const like = verdict === "rate" ? this.#roundTripsUs : this.#servedUs;
    like.push(roundTripUs);
    const usualUs = median(this.#roundTripsUs.slice(-RECENT)) || roundTripUs;
    const excessUs = verdict === "rate" ? 0 : Math.max(0, roundTripUs - median(like.slice(-RECENT)));
    const onTheWayUs =
      verdict === "rate" ? roundTripUs : Math.min(roundTripUs, usualUs + Math.min(excessUs, MAX_STALL_US));
    const unnamed = isUnnamedLimit({ ...outcomeOf(exchange, this.#read), status: exchange.status });
    return { ordinal, kind, atUs: sentUs + onTheWayUs / 2, slackUs: onTheWayUs / 2, verdict, unnamed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#over);
    this.#stopping[Symbol.dispose]();
    await this.#sender[Symbol.asyncDispose]();
  }
}
