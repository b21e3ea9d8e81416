import type { Bounds, Exchange } from "../../http/recorder/index.ts";
import type { Target } from "../../target/index.ts";
import type { RequestInfo } from "../response/response.ts";

/** Deadline of a denied or invalid request, ms: such a response needs no provider. */
export const QUICK_DEADLINE_MS = 20_000;
/**
 * Timeouts of one kind of request after which its deadline is shortened, and to what. One timeout is evidence; waiting for
 * fifty would take an hour.
 */
const TIMEOUTS_UNTIL_SHORTER = 3;
const SHORTER = { deadlineMs: 6_000, idleMs: 3_000 };
/** After this many timeouts the gateway evidently hangs on everything; the rest of the run only looks for exceptions. */
const MANY_TIMEOUTS = 60;
const MUCH_SHORTER = { deadlineMs: 2_500, idleMs: 1_200 };
const MAX_TIMEOUTS = 240;
const VERY_SHORT = { deadlineMs: 1_000, idleMs: 600 };
/**
 * A gateway that never ends its responses, e.g. chunked bodies without the last chunk, makes every request of a run hang. After
 * this many time-outs, and this many per completed response, the deadlines become very short.
 */
const HANGING_TIMEOUTS = 16;
const HANGING_FOR_EACH = 20;
const ALL_HANGING = { deadlineMs: 400, idleMs: 300 };

const TIMED_OUT: readonly string[] = ["deadline", "idle-timeout"];

/** Whether we aborted because of a time limit. */
export function isTimedOut({ ending }: Pick<Exchange, "ending">): boolean {
  return TIMED_OUT.includes(ending.kind);
}

const MIB = 1024 * 1024;

/**
 * Every response is kept until the run is judged, so their total is bounded, bytes: the more is kept, the less a single
 * response may hold. A run of all suites against a verbose gateway keeps 20 MB.
 */
const KEPT_BYTES = 64 * MIB;
/** Share of the remaining memory that one response may use: up to 16 responses may arrive at the same time. */
const SHARE = 1 / 16;
const MIN_BYTES = 8 * 1024;
/** Compressed size of a model list, as a share of its original size. */
const LIST_SHARE = 1 / 8;
/** The same for a list that is already in memory: it is only written to disk. A run fetches two hundred. */
const HELD_LIST_SHARE = 1 / 64;
/** A list of sixteen thousand models has 2 to 5 MB. It is not compressed yet while it arrives. */
const MAX_LIST_BYTES = 16 * MIB;
/** Maximum number of separately kept pieces of all responses; a run of all suites against a working gateway has 30,000. */
const KEPT_PIECES = 500_000;
const PIECES_SHARE = 1 / 128;
const MIN_PIECES = 64;

/**
 * How long requests may take: as the target file says, and less for kinds of requests that have hung before. Also limits the
 * size of responses.
 */
export class TimeoutPolicy {
  #keptBytes = 0;
  #keptPieces = 0;
  /** Exchanges that completed, excluding model lists. */
  #ended = 0;
  readonly #timeouts = new Map<string, number>();
  readonly #timeoutsOf: () => Target["timeouts"];

  constructor(timeouts: () => Target["timeouts"]) {
    this.#timeoutsOf = timeouts;
  }

  /** Requests that share a deadline. Denials need no provider: if one hangs, it hangs for every model. */
  static kindOf({ mode, intent }: Pick<RequestInfo, "mode" | "intent">, model: unknown): string {
    return `${mode} ${intent} ${intent === "valid" || intent === "any" ? JSON.stringify(model ?? "") : ""}`;
  }

  boundsFor(
    kind: string,
    { intent, endpoint }: Pick<RequestInfo, "intent" | "endpoint">,
    overrides: Partial<Bounds> = {},
  ): Partial<Bounds> {
    const { responseMs, idleMs } = this.#timeoutsOf();
    const deadlineMs = intent === "valid" || intent === "any" ? responseMs : Math.min(QUICK_DEADLINE_MS, responseMs);
    const shareBytes = (KEPT_BYTES - this.#keptBytes) * SHARE;
    const mostBytes = endpoint === "models" ? Math.min(MAX_LIST_BYTES, shareBytes / LIST_SHARE) : shareBytes;
    const maxBodyBytes = Math.round(Math.max(MIN_BYTES, mostBytes));
    const maxPieces = Math.round(Math.max(MIN_PIECES, (KEPT_PIECES - this.#keptPieces) * PIECES_SHARE));
    const full = { deadlineMs, idleMs, maxBodyBytes, maxPieces, ...overrides };
    const own = this.#timeouts.get(kind) ?? 0;
    const all = [...this.#timeouts.values()].reduce((sum, count) => sum + count, 0);
    if (!this.#hangs(all) && own < TIMEOUTS_UNTIL_SHORTER && (own === 0 || all < MANY_TIMEOUTS)) return full;
    const shorter = this.#shorterAfter(all);
    const { deadlineMs: most, idleMs: silence } = shorter;
    return { ...full, deadlineMs: Math.min(full.deadlineMs, most), idleMs: Math.min(full.idleMs, silence) };
  }

  #shorterAfter(all: number): Pick<Bounds, "deadlineMs" | "idleMs"> {
    if (this.#hangs(all)) return all < MANY_TIMEOUTS ? VERY_SHORT : ALL_HANGING;
    return all < MANY_TIMEOUTS ? SHORTER : all < MAX_TIMEOUTS ? MUCH_SHORTER : VERY_SHORT;
  }

  /** Whether nearly everything hangs, whatever is sent. */
  #hangs(all: number): boolean {
    return all >= HANGING_TIMEOUTS && this.#ended * HANGING_FOR_EACH < all;
  }

  /** Called when the kept responses are released, as between two rounds. */
  forget(): void {
    this.#keptBytes = 0;
    this.#keptPieces = 0;
  }

  /** @param isHeld whether another response already holds the same body, so that it takes no more memory. */
  note(kind: string, exchange: Pick<Exchange, "ending" | "request" | "response">, isHeld = false): void {
    if (exchange.ending.kind === "complete" && exchange.request.method !== "GET") this.#ended++;
    // Lists are kept compressed, and there are hundreds of them.
    const share = exchange.request.method !== "GET" ? 1 : isHeld ? HELD_LIST_SHARE : LIST_SHARE;
    this.#keptBytes += (exchange.response?.body.bytes ?? 0) * share;
    this.#keptPieces += exchange.response?.body.pieces.length ?? 0;
    if (isTimedOut(exchange)) this.#timeouts.set(kind, (this.#timeouts.get(kind) ?? 0) + 1);
  }
}
