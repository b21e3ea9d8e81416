import { type Dialect, type HeaderList, header, type Mode } from "../../dialects/index.ts";
import type { LoadExchange } from "../../http/load-client/index.ts";
import { decodeBody, type Exchange, type Redactor, redactExchange } from "../../http/recorder/index.ts";
import type { RequestOutcome } from "../send/outcome.ts";

/** A recorded exchange of a load run, in the format of the conformance checks. */
export interface Sample {
  readonly phase: string;
  readonly exchange: Exchange;
  readonly requested: {
    readonly endpoint: Dialect;
    readonly mode: Mode;
    readonly intent: "any";
    readonly account: string;
    readonly inFlight: number;
    readonly rpm?: number | undefined;
    readonly nonce?: string | undefined;
  };
}

export interface SamplerOptions {
  readonly redactor: Redactor;
  /** Origin of the run on the clock of `nowUs`, and the wall clock at that time. */
  readonly originUs: number;
  readonly originMs: number;
  /** Prefix of the ids, to keep those of several runs distinct. */
  readonly prefix: string;
  readonly account: string;
  readonly rpm?: number | undefined;
  readonly onSample: (sample: Sample) => void;
}

/**
 * For each kind and phase, keeps the first exchanges, and then one whenever their number has grown by this factor. The kept
 * exchanges thus cover the whole phase, and a million requests of a kind leave about a hundred.
 */
const FIRST_OF_A_KIND = 8;
const GROWTH = 1.12;
const MAX_BODY_BYTES = 1024 * 1024;
/**
 * For all samples of a run together: a gateway may send a quarter of a megabyte with each denial, and requests may have
 * megabytes.
 */
const MAX_KEPT_BYTES = 48 * 1024 * 1024;
/** Memory per byte of a head with its fields split, if all fields are short. */
const MEMORY_PER_HEAD_BYTE = 16;

/** Keeps a bounded number of exchanges of every kind, spread over each phase. */
export class Sampler {
  readonly #options: SamplerOptions;
  /** Number of offered exchanges of each kind, and the number at which the next one is kept. */
  readonly #offered = new Map<string, { count: number; keepAt: number }>();
  readonly #waiting: (() => Promise<void>)[] = [];
  #count = 0;
  #keptBytes = 0;

  constructor(options: SamplerOptions) {
    this.#options = options;
  }

  /** Keeps the exchange if more of its kind are needed. @returns its id, or `undefined`. */
  offer(phase: string, exchange: LoadExchange, result: RequestOutcome): string | undefined {
    const { prepared } = exchange;
    if (!prepared.capture && exchange.pieces.length === 0 && exchange.status < 300 && exchange.status !== 0)
      return undefined;
    const kind = `${phase} ${prepared.dialect} ${prepared.stream} ${prepared.key} ${result.outcome} ${result.what}`;
    if (!this.#isNext(kind) || this.#keptBytes > MAX_KEPT_BYTES) return undefined;
    const requestBytes = prepared.bytes.length;
    this.#keptBytes += exchange.pieces.reduce(
      (sum, { bytes }) => sum + bytes.length,
      exchange.head.length * MEMORY_PER_HEAD_BYTE + requestBytes,
    );
    const id = `${this.#options.prefix}${String(++this.#count).padStart(5, "0")}`;
    // Deferred: decoding and redacting during a run would delay the next sends.
    this.#waiting.push(() => this.#keep(id, phase, exchange));
    return id;
  }

  #isNext(kind: string): boolean {
    const offered = this.#offered.get(kind) ?? { count: 0, keepAt: 1 };
    this.#offered.set(kind, offered);
    if (++offered.count < offered.keepAt) return false;
    offered.keepAt = offered.count < FIRST_OF_A_KIND ? offered.count + 1 : Math.ceil(offered.count * GROWTH);
    return true;
  }

  /** Decodes, redacts and passes on what was kept since the last call. */
  async settle(): Promise<void> {
    for (const keep of this.#waiting.splice(0)) await keep();
  }

  async #keep(id: string, phase: string, exchange: LoadExchange): Promise<void> {
    const { originUs, originMs, redactor, account, rpm, onSample } = this.#options;
    const { prepared, status, head, pieces } = exchange;
    const at = (us: number) => Math.round(us - originUs);
    const optional = (us: number) => (us === 0 ? undefined : at(us));
    const headers = headersOf(head);
    const requestBody = prepared.bytes.subarray(prepared.bytes.indexOf("\r\n\r\n") + 4);
    const body = await decodeBody(
      pieces.map((piece) => ({ atUs: at(piece.atUs), bytes: piece.bytes })),
      header(headers, "content-encoding"),
      MAX_BODY_BYTES,
      exchange.ending === "complete",
    );
    const recorded = redactExchange(redactor, {
      id,
      startedAtMs: Math.round(originMs + (exchange.dueUs - originUs) / 1_000),
      request: {
        method: "POST",
        url: prepared.url,
        headers: requestHeadersOf(prepared.bytes),
        body: requestBody.toString("utf8"),
        bodyBytes: requestBody.length,
      },
      key: prepared.key,
      connection: { id: `c${exchange.connection}`, earlier: exchange.earlier },
      timeline: {
        dueUs: at(exchange.dueUs),
        sentUs: optional(exchange.sentUs),
        firstByteUs: optional(exchange.headUs),
        headersUs: optional(exchange.headUs),
        endUs: at(exchange.endUs),
      },
      response: status === 0 ? undefined : { status, headers, interim: [], trailers: [] },
      body,
      receivedBytes: exchange.bodyBytes,
      reads: pieces.length,
      ending: {
        kind: body.overBound ? "size-bound" : exchange.ending,
        ...(exchange.detail === "" ? {} : { detail: exchange.detail }),
      },
      ownLagMs: 0,
      afterwards: exchange.surplus ? "bytes after the message" : undefined,
    });
    onSample({
      phase,
      exchange: recorded,
      requested: {
        endpoint: prepared.dialect,
        mode: prepared.stream ? "streaming" : "non-streaming",
        intent: "any",
        account,
        inFlight: exchange.inFlight,
        rpm,
        nonce: prepared.nonce,
      },
    });
  }
}

/** Fields of a raw head, without the preceding status line. */
function headersOf(head: string): HeaderList {
  return head
    .split("\r\n")
    .slice(1)
    .flatMap((line): [string, string][] => {
      const colon = line.indexOf(":");
      return colon <= 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1).trim()]];
    });
}

/** Fields of a request as written; its key is masked by value before anything leaves this module. */
function requestHeadersOf(bytes: Buffer): HeaderList {
  return headersOf(bytes.toString("utf8", 0, bytes.indexOf("\r\n\r\n"))).filter(
    ([name]) => !/^(?:host|content-length)$/i.test(name),
  );
}
