import type { Bounds, Exchange } from "../http-recorder/index.ts";
import type { Target } from "../target/index.ts";
import type { RequestInfo } from "./response.ts";

/** What a denied or odd request may take, ms: an answer that needs no provider. */
export const QUICK_DEADLINE_MS = 20_000;
/** Time-outs of one kind of request after which it gets less time, and how much. Once is evidence; fifty cost an hour. */
const TIMEOUTS_UNTIL_SHORTER = 3;
const SHORTER = { deadlineMs: 6_000, idleMs: 3_000 };
/** A gateway that hangs on everything is known by then; the rest of the run only finds out where it does not. */
const MANY_TIMEOUTS = 60;
const MUCH_SHORTER = { deadlineMs: 2_500, idleMs: 1_200 };
const MAX_TIMEOUTS = 240;
const VERY_SHORT = { deadlineMs: 1_000, idleMs: 600 };
/**
 * Of a gateway that never comes to an end, as with bodies in chunks without the last one, every request of a run hangs. When
 * so many did, and for each that ended there are so many, the rest is left soon.
 */
const HANGING_TIMEOUTS = 16;
const HANGING_FOR_EACH = 20;
const WHERE_ALL_HANGS = { deadlineMs: 400, idleMs: 300 };

const TIMED_OUT: readonly string[] = ["deadline", "idle-timeout"];

/** Whether we left because a bound on time ran out. */
export function isTimedOut({ ending }: Pick<Exchange, "ending">): boolean {
  return TIMED_OUT.includes(ending.kind);
}

const MIB = 1024 * 1024;

/**
 * Every answer is kept until the run is judged, so that all of them together are bounded, bytes: the more has come, the
 * less a single answer may hold. A run of all suites over a talkative gateway comes to 20 MB.
 */
const KEPT_BYTES = 64 * MIB;
/** Share of what is left that one answer may take: as many may be under way at once. */
const SHARE = 1 / 16;
const MIN_BYTES = 8 * 1024;
/** What is left of a list of models when it is compressed, as a share. */
const LIST_SHARE = 1 / 8;
/** The same of a list that is held already: it is only written to disk. A run fetches two hundred. */
const HELD_LIST_SHARE = 1 / 64;
/** A list of sixteen thousand models has 2 to 5 MB. While one is received, it is not compressed yet. */
const MAX_LIST_BYTES = 16 * MIB;
/** Pieces of all answers together that are kept apart; a run of all suites over a sound gateway comes to 30,000. */
const KEPT_PIECES = 500_000;
const PIECES_SHARE = 1 / 128;
const MIN_PIECES = 64;

/**
 * How long requests may take: as the target file says, and less for kinds of requests that have hung before. How much
 * an answer may hold, likewise.
 */
export class TimeoutPolicy {
  #keptBytes = 0;
  #keptPieces = 0;
  /** Exchanges that came to their end, without lists of models. */
  #ended = 0;
  readonly #timeouts = new Map<string, number>();
  readonly #timeoutsOf: () => Target["timeouts"];

  constructor(timeouts: () => Target["timeouts"]) {
    this.#timeoutsOf = timeouts;
  }

  /** Requests that share a deadline. Denials need no provider: one that hangs, hangs for every model. */
  static kindOf({ mode, intent }: Pick<RequestInfo, "mode" | "intent">, model: unknown): string {
    return `${mode} ${intent} ${intent === "good" || intent === "either" ? JSON.stringify(model ?? "") : ""}`;
  }

  boundsFor(
    kind: string,
    { intent, endpoint }: Pick<RequestInfo, "intent" | "endpoint">,
    wanted: Partial<Bounds> = {},
  ): Partial<Bounds> {
    const { answerMs, idleMs } = this.#timeoutsOf();
    const deadlineMs = intent === "good" || intent === "either" ? answerMs : Math.min(QUICK_DEADLINE_MS, answerMs);
    const shareBytes = (KEPT_BYTES - this.#keptBytes) * SHARE;
    const mostBytes = endpoint === "models" ? Math.min(MAX_LIST_BYTES, shareBytes / LIST_SHARE) : shareBytes;
    const maxBodyBytes = Math.round(Math.max(MIN_BYTES, mostBytes));
    const maxPieces = Math.round(Math.max(MIN_PIECES, (KEPT_PIECES - this.#keptPieces) * PIECES_SHARE));
    const full = { deadlineMs, idleMs, maxBodyBytes, maxPieces, ...wanted };
    const own = this.#timeouts.get(kind) ?? 0;
    const all = [...this.#timeouts.values()].reduce((sum, count) => sum + count, 0);
    if (!this.#hangs(all) && own < TIMEOUTS_UNTIL_SHORTER && (own === 0 || all < MANY_TIMEOUTS)) return full;
    const shorter = this.#shorterAfter(all);
    const { deadlineMs: most, idleMs: silence } = shorter;
    return { ...full, deadlineMs: Math.min(full.deadlineMs, most), idleMs: Math.min(full.idleMs, silence) };
  }

  #shorterAfter(all: number): Pick<Bounds, "deadlineMs" | "idleMs"> {
    if (this.#hangs(all)) return all < MANY_TIMEOUTS ? VERY_SHORT : WHERE_ALL_HANGS;
    return all < MANY_TIMEOUTS ? SHORTER : all < MAX_TIMEOUTS ? MUCH_SHORTER : VERY_SHORT;
  }

  /** Whether nearly everything hangs, whatever is sent. */
  #hangs(all: number): boolean {
    return all >= HANGING_TIMEOUTS && this.#ended * HANGING_FOR_EACH < all;
  }

  /** What was kept is let go, as between two rounds. */
  forget(): void {
    this.#keptBytes = 0;
    this.#keptPieces = 0;
  }

  /** @param isHeld whether its body is that of another response, so that it is not kept once more. */
  note(kind: string, exchange: Pick<Exchange, "ending" | "request" | "response">, isHeld = false): void {
    if (exchange.ending.kind === "complete" && exchange.request.method !== "GET") this.#ended++;
    // Lists are kept compressed, and there are hundreds of them.
    const share = exchange.request.method !== "GET" ? 1 : isHeld ? HELD_LIST_SHARE : LIST_SHARE;
    this.#keptBytes += (exchange.response?.body.bytes ?? 0) * share;
    this.#keptPieces += exchange.response?.body.pieces.length ?? 0;
    if (isTimedOut(exchange)) this.#timeouts.set(kind, (this.#timeouts.get(kind) ?? 0) + 1);
  }
}
