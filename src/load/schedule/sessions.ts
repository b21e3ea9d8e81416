import { InternalError, seededRandom } from "../../core/index.ts";
import { parseJson, readReply, readStream, type Turn } from "../../dialects/index.ts";
import type { LoadExchange, PreparedRequest } from "../../http/load-client/index.ts";
import type { RequestOutcome } from "../send/outcome.ts";
import { type MixOptions, modelFor, prepareRequest, textOf, type WireKey } from "../send/prepared-requests.ts";
import { drawLength } from "../workload/lengths.ts";
import { promptOf } from "../workload/prompt-text.ts";
import type { RequestClass } from "../workload/workload.ts";
import { drawRequest } from "./draw-request.ts";
import type { SessionArrivals } from "./kinds/sessions.ts";

/** What follows a response, and how long after its end. */
export interface NextTurn {
  readonly prepared: PreparedRequest;
  readonly waitMs: number;
}

export interface SessionOptions extends Omit<MixOptions, "entries" | "sampleEvery"> {
  readonly arrivals: SessionArrivals;
}

/** An active conversation. */
interface Session {
  readonly kind: RequestClass;
  readonly seed: number;
  readonly turns: number;
  readonly system: string | undefined;
  readonly history: Turn[];
  turn: number;
  thinkMs: number;
}

/** Keeps its random draws independent of the arrival's other ones. */
const SESSION_SPREAD = 0x85ebca6b;
/** Each turn of a session has a separate text id. */
const MAX_TURNS = 1_000;
/** Replaces a reply without text, such as a tool call: neither dialect accepts an empty turn. */
const NO_TEXT = "(no text)";

/**
 * Conversations of several turns. The number of turns, their texts and think times depend only on the seed, the arrival and the
 * turn; the rest of a conversation is what the gateway replied.
 */
export class Sessions {
  started = 0;
  /** Sessions in which every turn was admitted. */
  completed = 0;
  readonly #options: SessionOptions;
  readonly #open = new Map<number, Session>();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** First turn of the session of an arrival. */
  start(ordinal: number): PreparedRequest {
    const { mix, seed, arrivals } = this.#options;
    const own = seed ^ Math.imul(ordinal + 1, SESSION_SPREAD);
    const random = seededRandom(own);
    const turns = drawLength(arrivals.turns, random);
    const { sharedPrefix } = arrivals;
    const shares = sharedPrefix !== undefined && random() < sharedPrefix.share;
    const session: Session = {
      kind: drawRequest({ mix, seed }, ordinal).from,
      seed: own,
      turns,
      system: sharedPrefix && promptOf(sharedPrefix.tokens, shares ? undefined : ordinal * MAX_TURNS),
      history: [],
      turn: 0,
      thinkMs: 0,
    };
    this.#open.set(ordinal, session);
    this.started++;
    return this.#next(ordinal, session);
  }

  /** @returns the next turn, or `undefined` if the session is over: after its last turn, or when a turn was not admitted. */
  after(ordinal: number, exchange: LoadExchange, { outcome }: RequestOutcome): NextTurn | undefined {
    const session = this.#open.get(ordinal);
    if (session === undefined) throw new InternalError(`session ${ordinal} got a response and is not open`);
    if (outcome === "admitted" && session.turn < session.turns) {
      session.history.push({ role: "assistant", content: replyText(exchange) });
      const prepared = this.#next(ordinal, session);
      return { prepared, waitMs: session.thinkMs };
    }
    if (outcome === "admitted") this.completed++;
    this.abandon(ordinal);
    return undefined;
  }

  /** A turn could not be sent. */
  abandon(ordinal: number): void {
    this.#open.delete(ordinal);
  }

  #next(ordinal: number, session: Session): PreparedRequest {
    const { target, keys, seed, arrivals, spans } = this.#options;
    const { kind, system, history } = session;
    session.turn++;
    const drawn = drawRequest({ mix: [kind], seed: session.seed }, session.turn);
    session.thinkMs = drawLength(arrivals.thinkMs, seededRandom(session.seed + session.turn));
    history.push({ role: "user", content: textOf(drawn.prompt, ordinal * MAX_TURNS + session.turn) });
    const { dialect, stream, maxTokens } = drawn;
    const chat = dialect === "chat" && system !== undefined;
    return prepareRequest(target, {
      ...{ dialect, stream, maxTokens, includeUsage: kind.includeUsage },
      model: drawn.model ?? modelFor(target, dialect, stream),
      prompt: chat ? [{ role: "system", content: system }, ...history] : [...history],
      system: chat ? undefined : system,
      key: keys[ordinal % keys.length] as WireKey,
      // The turns of a session go to the addresses in turn, like those of a client behind a load balancer.
      ordinal: ordinal + session.turn - 1,
      headers: [[arrivals.header, `gauntlet-${seed}-${ordinal}`]],
      // The text of the reply is part of the next turn.
      capture: true,
      turn: session.turn,
      trace: spans?.next(),
    });
  }
}

/** The reply, as far as it was kept. */
function replyText({ prepared, pieces }: LoadExchange): string {
  const body = Buffer.concat(pieces.map(({ bytes }) => bytes));
  const text = prepared.stream
    ? readStream(body).text
    : readReply(prepared.dialect, parseJson(body.toString("utf8"))).text;
  return text || NO_TEXT;
}
