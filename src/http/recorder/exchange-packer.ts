import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { HeaderList } from "../../dialects/index.ts";
import type { Exchange, RecordedBody, RecordedRequest } from "./exchange.ts";

/**
 * Bodies with at least this many characters are compressed. Checks over all responses unpack them thirty times: packing from
 * 1,024 up saved 15 MB in a run but took 2.5 s.
 */
const MIN_CHARACTERS = 4_096;
/** Memory for the time and length of a piece, in characters. */
const PIECE_CHARACTERS = 96;
/**
 * Bodies with at least this many characters are stored once, however many exchanges have them: a model list may be megabytes
 * long.
 */
const MIN_SHARED_CHARACTERS = 131_072;
/** Initial buffer for compressed text; zlib grows it as needed. */
const OUTPUT_BYTES = 1_024;
/** Distinct fields that are shared; most others (dates, ids) occur once. */
const MAX_FIELDS = 4_096;

type Field = HeaderList[number];

export interface PackedExchange {
  readonly exchange: Exchange;
  /** Shared by all exchanges with the same large body; `undefined` for a small body. */
  readonly content: string | undefined;
}

/**
 * Reduces the memory of exchanges that are kept until a run is judged: bodies and long header values are compressed, and
 * unpacked each time they are read; header fields and large bodies that many exchanges share are stored once. Packing does not
 * change what readers see.
 */
export class ExchangePacker {
  readonly #texts = new Map<string, string>();
  readonly #fields = new Map<string, Field>();
  readonly #bodies = new Map<string, Packed>();

  pack(exchange: Exchange): PackedExchange {
    const { request, response } = exchange;
    const content = response && contentOf(response.body);
    const packed: Exchange = {
      ...exchange,
      request: packRequest({ ...request, url: this.#text(request.url), headers: this.#headers(request.headers) }),
      response: response && {
        ...response,
        headers: this.#headers(response.headers),
        trailers: this.#headers(response.trailers),
        body: packBody(response.body, (text) => this.#packText(text, content)),
      },
    };
    return { exchange: packed, content };
  }

  #packText(text: string, content: string | undefined): Packed {
    if (content === undefined) return deflated(text);
    const known = this.#bodies.get(content) ?? deflated(text);
    this.#bodies.set(content, known);
    return known;
  }

  #headers(list: HeaderList): HeaderList {
    return list.map(([name, value]) => {
      if (value.length < MIN_CHARACTERS)
        return shared(this.#fields, `${name}\n${value}`, (): Field => [this.#text(name), value]);
      return shared(this.#fields, `${name}\n${digestOf(value)}`, () => packField(this.#text(name), value));
    });
  }

  #text(text: string): string {
    return shared(this.#texts, text, () => text);
  }
}

/** The shared value for a key. Clears the map when it is full: the common values soon return. */
function shared<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size >= MAX_FIELDS) known.clear();
  const made = make();
  known.set(key, made);
  return made;
}

function packRequest(request: RecordedRequest): RecordedRequest {
  const { body, ...rest } = request;
  if (body === undefined || body.length < MIN_CHARACTERS) return request;
  const packed = deflated(body);
  return {
    ...rest,
    get body() {
      return inflated(packed);
    },
  };
}

/** A gateway may send a quarter of a megabyte in one field of each response. */
function packField(name: string, value: string): Field {
  const packed = deflated(value);
  return Object.defineProperty([name, ""] as const, 1, { enumerable: true, get: () => inflated(packed) });
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("base64");

function contentOf({ text, base64 }: RecordedBody): string | undefined {
  const content = text ?? base64 ?? "";
  if (content.length < MIN_SHARED_CHARACTERS) return undefined;
  return `${text === undefined ? "base64" : "text"} ${digestOf(content)}`;
}

function packBody(body: RecordedBody, pack: (text: string) => Packed): RecordedBody {
  const { text, base64, pieces, ...rest } = body;
  const characters = (text ?? base64 ?? "").length;
  if (characters + pieces.length * PIECE_CHARACTERS < MIN_CHARACTERS) return body;
  const packedText = text === undefined ? undefined : pack(text);
  const packedBase64 = base64 === undefined ? undefined : pack(base64);
  const packedPieces = deflated(JSON.stringify(pieces));
  return {
    ...rest,
    get text() {
      return packedText && inflated(packedText);
    },
    get base64() {
      return packedBase64 && inflated(packedBase64);
    },
    get pieces() {
      return JSON.parse(inflated(packedPieces)) as RecordedBody["pieces"];
    },
  };
}

interface Packed {
  readonly bytes: Buffer;
  /** Buffer size for the unpacked bytes: zlib allocates 16 KiB by default, and checks unpack thousands of times. */
  readonly room: number;
}

/** Copied, because zlib returns a slice of a larger buffer. */
function deflated(text: string): Packed {
  const bytes = Buffer.from(deflateRawSync(text, { chunkSize: OUTPUT_BYTES }));
  return { bytes, room: Buffer.byteLength(text) + OUTPUT_BYTES };
}

function inflated({ bytes, room }: Packed): string {
  return inflateRawSync(bytes, { chunkSize: room }).toString("utf8");
}
