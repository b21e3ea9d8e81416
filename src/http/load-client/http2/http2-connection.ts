import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from "node:http2";
import type { Socket } from "node:net";
import { type Ending, type LoadExchange, nowUs, type PreparedRequest } from "../load-exchange.ts";
import { tlsSocket } from "../tls-socket.ts";

/** Maximum number of streams per connection, whatever the server allows: the common limit of servers and proxies. */
const MAX_STREAMS = 100;
/** Handshake, ms. */
const CONNECT_MS = 10_000;
/**
 * Flow-control windows, bytes. The default of 64 KiB for a whole connection would throttle a hundred streams; with this size, a
 * response arrives as fast as it is sent.
 */
const STREAM_WINDOW = 1024 * 1024;
const CONNECTION_WINDOW = 32 * 1024 * 1024;
/** Memory that Node lets a session use, MB; its default of 10 refuses streams when responses are large. */
const SESSION_MB = 128;

/** One HTTP/2 connection with its streams. */
export class Http2Connection {
  readonly #ordinal: number;
  readonly #onGone: (connection: Http2Connection) => void;
  #session: ClientHttp2Session | undefined;
  #carried = 0;
  active = 0;
  /** The server has announced that it accepts no more streams. */
  leaving = false;

  constructor(ordinal: number, onGone: (connection: Http2Connection) => void) {
    this.#ordinal = ordinal;
    this.#onGone = onGone;
  }

  /** @returns why it failed, or `undefined` if the connection is open and its settings are known. Never throws. */
  open(url: URL, given: Socket | undefined): Promise<string | undefined> {
    return new Promise((resolve) => {
      const socket = given ?? (url.protocol === "https:" ? tlsSocket(url, ["h2"]) : undefined);
      const session = connect(url.origin, {
        settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
        maxSessionMemory: SESSION_MB,
        ...(socket === undefined ? {} : { createConnection: () => socket }),
      });
      this.#session = session;
      let failure: string | undefined;
      const settle = (why?: string) => {
        clearTimeout(deadline);
        resolve(why);
      };
      const deadline = setTimeout(() => {
        session.destroy();
        settle("connecting took longer than 10 s");
      }, CONNECT_MS);
      // Until the settings arrive, the number of streams that the server accepts is unknown.
      session.once("remoteSettings", () => {
        session.setLocalWindowSize(CONNECTION_WINDOW);
        settle();
      });
      session.on("error", (error: Error) => {
        failure = error instanceof AggregateError ? (error.errors[0] as Error).message : error.message;
      });
      session.on("goaway", () => {
        this.leaving = true;
      });
      session.on("close", () => {
        this.leaving = true;
        settle(failure ?? "the connection was closed");
        this.#onGone(this);
      });
    });
  }

  /** Maximum number of concurrent streams. */
  get bound(): number {
    return Math.min(MAX_STREAMS, this.#session?.remoteSettings?.maxConcurrentStreams ?? MAX_STREAMS);
  }

  /** Number of streams that can be added to the current ones. */
  get room(): number {
    const { leaving } = this;
    if (leaving || this.#session === undefined || this.#session.closed || this.#session.destroyed) return 0;
    return Math.max(0, this.bound - this.active);
  }

  /** @param onEnd called once, never before this returns. */
  send(exchange: LoadExchange, onEnd: (stream: Http2Stream) => void): Http2Stream {
    const session = this.#session as ClientHttp2Session;
    exchange.connection = this.#ordinal;
    exchange.earlier = this.#carried++;
    this.active++;
    const { headers, body } = requestOf(exchange.prepared);
    exchange.sentUs = nowUs();
    const stream = session.request(headers);
    stream.end(body);
    return new Http2Stream(exchange, stream, (ended) => {
      this.active--;
      onEnd(ended);
    });
  }

  destroy(): void {
    this.#session?.destroy();
  }
}

/** One exchange on a separate stream. */
export class Http2Stream {
  readonly exchange: LoadExchange;
  /** The server reports that it has not processed the request. */
  refused = false;
  readonly #stream: ClientHttp2Stream;
  readonly #onEnd: (stream: Http2Stream) => void;
  #over = false;

  constructor(exchange: LoadExchange, stream: ClientHttp2Stream, onEnd: (stream: Http2Stream) => void) {
    this.exchange = exchange;
    this.#stream = stream;
    this.#onEnd = onEnd;
    let why = "";
    stream.on("response", (headers: IncomingHttpHeaders, _flags: number, raw?: readonly string[]) => {
      exchange.readUs = nowUs();
      exchange.onHead(Number(headers[":status"]), headOf(headers, raw));
    });
    stream.on("data", (bytes: Buffer) => {
      exchange.readUs = nowUs();
      exchange.onBody(bytes, 0, bytes.length);
    });
    stream.on("end", () => {
      // A stream that is already closed was reset or truncated: a regular end arrives before the close. Even NO_ERROR truncates.
      if (stream.closed || stream.rstCode !== constants.NGHTTP2_NO_ERROR || exchange.status === 0) return;
      exchange.readUs = nowUs();
      exchange.onEnd(true);
      this.#finish("complete");
    });
    stream.on("error", (error: Error) => {
      why = error.message;
    });
    stream.on("close", () => {
      this.refused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
      exchange.detail = why;
      const broken = stream.rstCode === constants.NGHTTP2_PROTOCOL_ERROR && exchange.status !== 0;
      this.#finish(broken ? "protocol-error" : "reset");
    });
  }

  /** Aborts the exchange: cancels the stream and keeps the connection. */
  leave(ending: Ending): void {
    this.#finish(ending);
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  #finish(ending: Ending): void {
    if (this.#over) return;
    this.#over = true;
    this.exchange.ending = ending;
    this.exchange.endUs = nowUs();
    this.#onEnd(this);
  }
}

interface Http2Request {
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer;
}

const requests = new WeakMap<PreparedRequest, Http2Request>();

/**
 * A prepared request is in HTTP/1.1 format; the fields are the same here, except for connection-specific ones (RFC 9113, 8.2.2).
 */
function requestOf(prepared: PreparedRequest): Http2Request {
  const known = requests.get(prepared);
  if (known !== undefined) return known;
  const end = prepared.bytes.indexOf("\r\n\r\n");
  const [line = "", ...fields] = prepared.bytes.toString("utf8", 0, end).split("\r\n");
  const headers: Record<string, string | string[]> = { ":method": "POST", ":path": line.split(" ")[1] ?? "/" };
  for (const field of fields) {
    const colon = field.indexOf(":");
    const name = field.slice(0, colon).toLowerCase();
    const value = field.slice(colon + 1).trim();
    if (name === "host") headers[":authority"] = value;
    else if (!/^(?:connection|keep-alive|transfer-encoding|upgrade|proxy-connection)$/.test(name))
      headers[name] = name in headers ? [headers[name] as string | string[], value].flat() : value;
  }
  const made = { headers, body: prepared.bytes.subarray(end + 4) };
  requests.set(prepared, made);
  return made;
}

/** The head as text in HTTP/1.1 format: a status line and one line per field. */
function headOf(
  headers: IncomingHttpHeaders,
  raw: readonly string[] = Object.entries(headers).flat().map(String),
): string {
  let head = `HTTP/2 ${headers[":status"]}\r\n`;
  for (let at = 0; at + 1 < raw.length; at += 2)
    if (!raw[at]?.startsWith(":")) head += `${raw[at]}: ${raw[at + 1]}\r\n`;
  return head;
}
