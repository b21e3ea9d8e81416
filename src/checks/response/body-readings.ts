import {
  type Endpoint,
  type ErrorReading,
  parseJson,
  type ReplyReading,
  readError,
  readReply,
  readStream,
  type StreamReading,
} from "../../dialects/index.ts";
import { type Exchange, ExchangePacker } from "../../http/recorder/index.ts";
import { CachedValue, type ReadingCache } from "./reading-cache.ts";

type Body = NonNullable<Exchange["response"]>["body"];

/** Readings of larger bodies may be discarded: JSON with many small parts takes twenty times its length in memory. */
const LARGE_BYTES = 128 * 1024;
const MANY_EVENTS = 4_000;

/** A small fact derived from a body alone. */
export type BodyFact<T> = (readings: BodyReadings) => T;

interface ReadBody {
  readonly endpoint: Endpoint;
  /** Keeps recently parsed values, and drops them when others are parsed. */
  readonly cache: ReadingCache;
}

/** Parses a body on demand and caches the results; those of large bodies only for a while. */
export class BodyReadings {
  readonly #body: () => Body | undefined;
  readonly #endpoint: Endpoint;
  readonly #cache: ReadingCache;
  #facts: Map<BodyFact<unknown>, unknown> | undefined;
  readonly #text = new CachedValue(() => this.#textOf());
  #isJson: boolean | undefined;
  readonly #json = new CachedValue(() => {
    const json = parseJson(this.text);
    this.#isJson = json !== undefined;
    return json;
  });
  readonly #reply = new CachedValue(() => readReply(this.#endpoint === "messages" ? "messages" : "chat", this.json));
  readonly #stream = new CachedValue(() => readStream(this.bytes));
  readonly #error = new CachedValue(() => readError(this.text));

  constructor(body: () => Body | undefined, { endpoint, cache }: ReadBody) {
    this.#body = body;
    this.#endpoint = endpoint;
    this.#cache = cache;
  }

  /** Body as text; bytes that are not UTF-8 become replacement characters. */
  get text(): string {
    return this.#text.get(this.#cache, this.#isLarge);
  }

  get bytes(): Uint8Array {
    const { base64 } = this.#body() ?? {};
    return base64 === undefined ? Buffer.from(this.text, "utf8") : Buffer.from(base64, "base64");
  }

  /** Body as JSON; `undefined` if it is not JSON. */
  get json(): unknown {
    return this.#json.get(this.#cache, this.#isLarge);
  }

  /** Does not parse the body again once it has been parsed. */
  get isJson(): boolean {
    return this.#isJson ?? this.json !== undefined;
  }

  get reply(): ReplyReading {
    return this.#reply.get(this.#cache, this.#isLarge);
  }

  get stream(): StreamReading {
    return this.#stream.get(this.#cache, ({ events }) => events.length > MANY_EVENTS || this.#isLarge());
  }

  get error(): ErrorReading {
    return this.#error.get(this.#cache, this.#isLarge);
  }

  /** Derives a fact once, however often it is needed. */
  fact<T>(derive: BodyFact<T>): T {
    this.#facts ??= new Map();
    if (!this.#facts.has(derive)) this.#facts.set(derive, derive(this));
    return this.#facts.get(derive) as T;
  }

  forget(): void {
    this.#facts = undefined;
    for (const reading of [this.#text, this.#json, this.#reply, this.#stream, this.#error]) reading.forget();
  }

  #textOf(): string {
    const body = this.#body();
    return body?.text ?? Buffer.from(body?.base64 ?? "", "base64").toString("utf8");
  }

  readonly #isLarge = (): boolean => (this.#body()?.bytes ?? 0) > LARGE_BYTES;
}

interface PackedResponse {
  readonly exchange: Exchange;
  /** The readings of a large body, shared by all responses with the same body. */
  readonly shared?: BodyReadings;
  /** Whether another response with the same large body was packed before. */
  readonly isHeld: boolean;
}

/** Reduces the memory of a run's exchanges, and shares the readings of identical large bodies between responses. */
export class ResponsePacker {
  readonly #packer = new ExchangePacker();
  readonly #shared = new Map<string, BodyReadings>();

  pack(exchange: Exchange, { endpoint, cache }: ReadBody): PackedResponse {
    const { exchange: packed, content } = this.#packer.pack(exchange);
    if (content === undefined) return { exchange: packed, isHeld: false };
    const key = `${endpoint} ${content}`;
    const held = this.#shared.get(key);
    const shared = held ?? new BodyReadings(() => packed.response?.body, { endpoint, cache });
    this.#shared.set(key, shared);
    return { exchange: packed, shared, isHeld: held !== undefined };
  }
}
