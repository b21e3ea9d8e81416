import { describeResponse } from "../../../reports/text/index.ts";
import { atPointer, excerptOf, member } from "../../core/index.ts";
import {
  type DenialWords,
  type Endpoint,
  type ErrorReading,
  type HeaderList,
  header,
  headerValues,
  type Mode,
  type ReplyReading,
  retryAfterWaitMs,
  type StreamReading,
} from "../../dialects/index.ts";
import type { Exchange } from "../../http/recorder/index.ts";
import { reasonsOf, specReason } from "../../judging/index.ts";
import type { ResponseFacts } from "../../record/index.ts";
import { type BodyFact, BodyReadings, type ResponsePacker } from "./body-readings.ts";
import { ReadingCache } from "./reading-cache.ts";

/** Where a gateway puts what judges read; from the target file, stored in the record for a later judgement. */
export interface ReadingRules {
  readonly reasonHeader: string;
  readonly actionHeader: string;
  /** JSON pointer of the reason, if the target's contract puts it in the body. */
  readonly reasonPointer?: string | undefined;
  /** The gateway's own words for denials, if its contract has any. */
  readonly denials?: readonly DenialWords[] | undefined;
}

/** How responses are read, and what holds their readings. */
interface CachedReading extends ReadingRules {
  /** One for all responses of a run, so that two runs in one process do not meet. Default: the response has its own. */
  readonly cache?: ReadingCache;
}

/** What was requested, as far as it is needed to read the response. */
export interface RequestInfo {
  readonly endpoint: Endpoint;
  readonly mode: Mode;
  /**
   * `valid`: must be served; cross-cutting checks rely on it. `any`: may be served or denied. `invalid` (or an edge case) and `denied`:
   * something about it is wrong on purpose.
   */
  readonly intent: "valid" | "any" | "invalid" | "denied";
  /** Account whose limits it counts against. */
  readonly account: string;
  /** Rate limit of that account, requests per minute, if the target states it. */
  readonly rpm?: number | undefined;
  /** Unique text in the prompt, if any. */
  readonly nonce?: string | undefined;
  /** Id of the request that this one repeats after an ambient denial, a stale connection or a server error. */
  readonly repeats?: string | undefined;
  /** Sent to find out whether the gateway responds at all. */
  readonly probe?: true | undefined;
  /** Id of a response that refused a model which had been served: sent to find out whether it is served again. */
  readonly recoveryOf?: string | undefined;
  /** The provider fails on purpose. */
  readonly upstreamFails?: boolean | undefined;
}

/** Maximum length of a reason in a sentence, characters: a header may be a quarter of a megabyte long. */
const MAX_REASON_CHARACTERS = 120;

/** An exchange that can be read. Readings are made on demand and cached; those of a packed exchange only for a while. */
export class Response {
  readonly requested: RequestInfo;
  readonly #rules: ReadingRules;
  readonly #cache: ReadingCache;
  #exchange: Exchange;
  #packed = false;
  #admitted: boolean | undefined;
  #streamed: boolean | undefined;
  #readings: BodyReadings;
  #isShared = false;

  constructor(exchange: Exchange, requested: RequestInfo, rules: CachedReading) {
    this.#exchange = exchange;
    this.requested = requested;
    this.#rules = rules;
    this.#cache = rules.cache ?? new ReadingCache();
    const { endpoint } = requested;
    this.#readings = new BodyReadings(() => this.#exchange.response?.body, { endpoint, cache: this.#cache });
  }

  get exchange(): Exchange {
    return this.#exchange;
  }

  get id(): string {
    return this.exchange.id;
  }

  /**
   * Compresses the response until it is next read, with the same results. A run keeps thousands of responses until its end.
   *
   * @returns whether another response already holds the same body.
   */
  pack(packer: ResponsePacker): { readonly isHeld: boolean } {
    if (this.#packed) return { isHeld: true };
    const { exchange, shared, isHeld } = packer.pack(this.#exchange, {
      endpoint: this.requested.endpoint,
      cache: this.#cache,
    });
    this.#exchange = exchange;
    this.#packed = true;
    this.#readings.forget();
    this.#isShared = shared !== undefined;
    this.#readings = shared ?? this.#readings;
    return { isHeld };
  }

  /** The readings of the body; marks them as recently used. */
  get #body(): BodyReadings {
    if (this.#packed && !this.#isShared) this.#cache.holdBody(this.#readings);
    return this.#readings;
  }

  /** Status of the final response; `undefined` if there was none. */
  get status(): number | undefined {
    return this.exchange.response?.status;
  }

  get headers(): HeaderList {
    return this.exchange.response?.headers ?? [];
  }

  header(name: string): string | undefined {
    return header(this.headers, name);
  }

  headerValues(name: string): readonly string[] {
    return headerValues(this.headers, name);
  }

  /** Wall clock when its last byte arrived, ms. */
  get arrivedAtMs(): number {
    const { startedAtMs, timeline } = this.exchange;
    return startedAtMs + (timeline.endUs - timeline.dueUs) / 1_000;
  }

  /** The reasons that a denial of its status may have at this gateway. */
  get reasonsOfStatus(): readonly string[] {
    return reasonsOf(this.#rules.denials, this.status);
  }

  /** The wait that it requests before the next attempt, ms from its arrival; `undefined` if it gives no usable wait. */
  get retryAfterWaitMs(): number | undefined {
    return retryAfterWaitMs(this.header("retry-after"), { date: this.header("date"), arrivedAtMs: this.arrivedAtMs });
  }

  /** Whether the whole message arrived. */
  get complete(): boolean {
    return this.exchange.ending.kind === "complete";
  }

  /** Completely served: 2xx, not truncated, and no error instead of output. */
  get admitted(): boolean {
    this.#admitted ??= this.#isAdmitted();
    return this.#admitted;
  }

  #isAdmitted(): boolean {
    const { status = 0 } = this;
    if (!this.complete || status < 200 || status > 299) return false;
    if (this.requested.endpoint === "models") return true;
    if (this.streamed) return this.stream.errors.length === 0;
    return this.reply.error === undefined;
  }

  /** Whether a stream that began with 2xx holds an error instead of output: a refusal too late for a status. */
  get refusedLate(): boolean {
    const { status = 0, requested } = this;
    if (status < 200 || status > 299 || requested.endpoint === "models" || !this.streamed) return false;
    return this.stream.outputs === 0 && this.stream.errors.length > 0;
  }

  /** The named reason of a denial: the specification's, if the target's contract maps the gateway's reason to it. */
  get reason(): string | undefined {
    return specReason(this.#rules.denials, { status: this.status, reason: this.ownReason, text: () => this.text });
  }

  /** The reason as sent by the gateway. */
  get ownReason(): string | undefined {
    const { reasonPointer, reasonHeader } = this.#rules;
    if (reasonPointer === undefined) return this.header(reasonHeader);
    const value = atPointer(this.json, reasonPointer);
    return typeof value === "string" ? value : undefined;
  }

  get action(): string | undefined {
    return this.header(this.#rules.actionHeader);
  }

  /** Body as text; bytes that are not UTF-8 become replacement characters. */
  get text(): string {
    return this.#body.text;
  }

  get bytes(): Uint8Array {
    return this.#body.bytes;
  }

  /** Body as JSON; `undefined` if it is not JSON. */
  get json(): unknown {
    return this.#body.json;
  }

  get isJson(): boolean {
    return this.#body.isJson;
  }

  get reply(): ReplyReading {
    return this.#body.reply;
  }

  /** A small fact derived from the body alone: computed once for all responses with the same large body. */
  fact<T>(derive: BodyFact<T>): T {
    return this.#body.fact(derive);
  }

  /** Whether the body is a stream of items and not one document, whatever was requested. */
  get streamed(): boolean {
    this.#streamed ??= this.#isStreamed();
    return this.#streamed;
  }

  #isStreamed(): boolean {
    if (this.requested.mode !== "streaming") return this.fact(isEventStream);
    return this.stream.framing !== "single-json" || isChunk(this.json);
  }

  get stream(): StreamReading {
    return this.#body.stream;
  }

  get error(): ErrorReading {
    return this.#body.error;
  }

  /** Reply text of either mode; `undefined` if the body has no field for it, or its shape is unknown. */
  get replyText(): string | undefined {
    return (this.streamed ? this.stream.text : this.reply.text) ?? undefined;
  }

  /** Milliseconds from sending to the end of the exchange. */
  get durationMs(): number {
    const { sentUs, dueUs, endUs } = this.exchange.timeline;
    return (endUs - (sentUs ?? dueUs)) / 1_000;
  }

  /** The response in short, as data. */
  get facts(): ResponseFacts {
    const { status, reason, ownReason } = this;
    const { kind, detail } = this.exchange.ending;
    return {
      ...(status === undefined ? {} : { status }),
      ...(ownReason === undefined ? {} : { reason: excerptOf(ownReason, MAX_REASON_CHARACTERS) }),
      ...(reason === ownReason ? {} : { readAs: reason ?? null }),
      ...(kind === "complete" ? {} : { ending: { kind, ...(detail === undefined ? {} : { detail }) } }),
      ...(kind === "complete" && this.refusedLate ? { isRefusedLate: true } : {}),
    };
  }

  /** The response in short: `429 rate_limit_exceeded`, `200, then reset`, `no response (deadline)`. */
  get summary(): string {
    return describeResponse(this.facts);
  }
}

/** An event stream is never JSON as a whole, which is faster to check for a long document. */
const isEventStream: BodyFact<boolean> = (body) => !body.isJson && body.stream.framing === "event-stream";

/** A single chunk: a stream of one item is still a stream. */
function isChunk(json: unknown): boolean {
  const choices = member(json, "choices");
  return Array.isArray(choices) && member(choices[0], "delta") !== undefined;
}

/** Whether the gateway had closed the idle connection, so that no part of the request got a response (RFC 9112, 9.3). */
export function isStale({ ending, response, connection, timeline }: Exchange): boolean {
  return (
    ending.kind === "reset" && response === undefined && timeline.firstByteUs === undefined && connection.earlier > 0
  );
}
