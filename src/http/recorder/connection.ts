import { createRequire } from "node:module";
import type { Socket } from "node:net";
import type { Client } from "undici";
import { outliveWriteErrors, type WriteFailure } from "../../core/index.ts";
import { MAX_KEPT_HEAD } from "./head-defect.ts";
import { InterimFilter } from "./interim-filter.ts";

/**
 * Loaded with the first connection: it takes 135 ms of CPU, which a load run that never records this way would otherwise spend
 * before its first request.
 */
const loadUndici = (): typeof import("undici") => createRequire(import.meta.url)("undici");

export interface ConnectionOptions {
  /** Certificate authorities to trust instead of the system's, PEM. */
  readonly ca?: string | undefined;
}

/** One socket and what it has carried. A `Connection` gets a new one when the gateway closes the old one. */
interface Wire {
  readonly id: string;
  readonly filter: InterimFilter;
  readonly socket: Socket;
  readonly writeFailure: WriteFailure;
  carried: number;
}

/** TCP and TLS handshake, ms. */
const CONNECT_MS = 10_000;
const NOTHING = Buffer.alloc(0);
/** Maximum number of bytes passed to the parser at a time: it creates two objects per field and can only be stopped between two calls. */
const MAX_AT_ONCE = 8 * 1024;
/** Maximum number of fields of a head, as in Node's own client. Each costs several objects. */
const MAX_FIELDS = 2_000;
/**
 * Maximum length of a head, bytes. undici aborts on more than 256 KiB of header fields, but has no limit for the status line, and a
 * gateway that never ends it would keep this process busy until the deadline of each request.
 */
const MAX_HEAD_BYTES = 512 * 1024;
const LF = 10;
/** `HTTP/1.1 100`. */
const STATUS_CHARACTERS = 12;

/** Receives the connection's bytes and its end; set by the current exchange. */
export interface WireListener {
  onFirstByte(): void;
  /** More bytes are about to be read; `afterHead` have been received after the head so far. */
  onMoreBytes(afterHead: number): void;
  /** The head is larger than a client reads. @param detail which bound it exceeds. */
  onTooLargeHead(detail: string): void;
  /** The connection failed after the message was complete, e.g. because of bytes beyond its length. */
  onBreak(error: Error): void;
}

/**
 * A client with one connection at a time, without pipelining, retries or redirects, so that every exchange knows which connection
 * carried it and what that connection had carried before.
 */
export class Connection {
  readonly client: Client;
  #wire: Wire | undefined;
  #listener: WireListener | undefined;
  #awaitingByte = false;
  /** First characters of the current head and its last bytes: enough to recognise its kind and its end. */
  #headStart = "";
  #headEnd: Buffer = NOTHING;
  /** Of the current head: its status line and its fields, as far as they have arrived. */
  #headLines = 0;
  #headBytes = 0;
  /** The head being received, or the final one. Rarely read. */
  #head = "";
  #afterHead: number | undefined;

  /** @param origin scheme, host and port. @param nextId names the sockets; unique within the run. */
  constructor(origin: string, nextId: () => string, { ca }: ConnectionOptions = {}) {
    const { buildConnector, Client } = loadUndici();
    const connector = buildConnector({
      timeout: CONNECT_MS,
      allowH2: false,
      ...(ca === undefined ? {} : { ca }),
    });
    this.client = new Client(origin, {
      pipelining: 1,
      // We enforce the deadlines: undici's timers are coarse (about half a second) and would conflict with ours.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 256 * 1024,
      // The gateway decides how long an idle connection lives.
      keepAliveTimeout: 600_000,
      keepAliveMaxTimeout: 600_000,
      connect: (options, done) =>
        connector(options, (...outcome) => {
          if (outcome[1]) this.#adopt(outcome[1], nextId());
          done(...outcome);
        }),
    });
    this.client.on("disconnect", (_origin, _targets, error) => this.#listener?.onBreak(error));
  }

  /** ID of the current socket and how many exchanges it carried before this one. */
  get identity(): { readonly id: string; readonly earlier: number } {
    return { id: this.#wire?.id ?? "none", earlier: this.#wire?.carried ?? 0 };
  }

  /** How many unexpected `100 Continue` preceded the current response. */
  get continues(): number {
    return this.#wire?.filter.removed ?? 0;
  }

  /** Bytes after the head of the current response, including framing; `undefined` before the end of the head. */
  get bytesAfterHead(): number | undefined {
    return this.#afterHead;
  }

  /** The beginning of the final head, or of what was received instead of one, as latin1. */
  get head(): string {
    return this.#head;
  }

  /** Marks the start of an exchange on the current socket. */
  start(listener: WireListener): void {
    this.#listener = listener;
    this.#awaitingByte = true;
    this.#headStart = "";
    this.#headEnd = NOTHING;
    this.#headLines = 0;
    this.#headBytes = 0;
    this.#head = "";
    this.#afterHead = undefined;
    this.#wire?.filter.arm();
  }

  /** Marks the end of an exchange. */
  finish(): void {
    const wire = this.#wire;
    if (wire === undefined) return;
    wire.carried++;
    if (wire.writeFailure.error === undefined && wire.socket.writableLength === 0) return;
    // The gateway responded before it had received the whole request, whose rest would precede the next request. Without an
    // error, undici would take the close for the end of the response, even of one that was aborted.
    const { InformationalError } = loadUndici().errors;
    wire.socket.destroy(new InformationalError("the request was not fully sent"));
  }

  /** Why the current request could not be fully written; there may still be a response. */
  get writeError(): Error | undefined {
    return this.#wire?.writeFailure.error;
  }

  forget(listener: WireListener): void {
    if (this.#listener === listener) this.#listener = undefined;
  }

  /** Watches the bytes of a socket as undici reads them: all of them pass through its `read`. */
  #adopt(socket: Socket, id: string): void {
    const wire: Wire = {
      id,
      filter: new InterimFilter(),
      socket,
      writeFailure: outliveWriteErrors(socket),
      carried: 0,
    };
    this.#wire = wire;
    const read = socket.read.bind(socket);
    let waiting: Buffer = NOTHING;
    socket.read = (size?: number) => {
      for (;;) {
        this.#listener?.onMoreBytes(this.#afterHead ?? 0);
        // The listener has aborted: the parser gets no more data from this connection.
        if (socket.destroyed) return null;
        if (waiting.length === 0) {
          const bytes: Buffer | null = read(size);
          if (bytes === null) return null;
          if (this.#awaitingByte) {
            this.#awaitingByte = false;
            this.#listener?.onFirstByte();
          }
          waiting = wire.filter.pass(bytes);
        }
        const passed = waiting.subarray(0, MAX_AT_ONCE);
        waiting = waiting.subarray(MAX_AT_ONCE);
        this.#countAfterHead(passed);
        if (passed.length > 0 && !socket.destroyed) return passed;
      }
    };
    // The exchange whose request opened this connection is about to be written.
    wire.filter.arm();
  }

  /** The parser ignores a body where none is allowed; only the raw bytes show that there was one. */
  #countAfterHead(bytes: Buffer): void {
    let rest = bytes;
    while (this.#afterHead === undefined) {
      if (this.#head.length < MAX_KEPT_HEAD) this.#head += rest.toString("latin1");
      this.#headStart += rest.toString("latin1", 0, STATUS_CHARACTERS - this.#headStart.length);
      const seen = Buffer.concat([this.#headEnd, rest]);
      const end = seen.indexOf("\r\n\r\n");
      // Up to the blank line at the end, without the bytes that were counted with the previous piece.
      const lines = end === -1 ? rest : seen.subarray(this.#headEnd.length, end + 2);
      for (let at = lines.indexOf(LF); at !== -1; at = lines.indexOf(LF, at + 1)) this.#headLines++;
      this.#headBytes += lines.length;
      if (this.#headLines > 1 + MAX_FIELDS) this.#listener?.onTooLargeHead(`over ${MAX_FIELDS} header fields`);
      else if (this.#headBytes > MAX_HEAD_BYTES)
        this.#listener?.onTooLargeHead(`over ${MAX_HEAD_BYTES / 1024} KiB before the end of the head`);
      if (end === -1) {
        this.#headEnd = Buffer.from(seen.subarray(-3));
        return;
      }
      rest = seen.subarray(end + 4);
      // An interim response has a separate head.
      if (/^HTTP\/1\.1 1\d\d/.test(this.#headStart)) this.#forgetInterim();
      else this.#afterHead = 0;
      this.#headLines = 0;
      this.#headBytes = 0;
      this.#headStart = "";
      this.#headEnd = NOTHING;
    }
    this.#afterHead += rest.length;
  }

  /** Keeps a 101, because no response follows it. */
  #forgetInterim(): void {
    if (!this.#headStart.endsWith(" 101")) this.#head = "";
  }

  async destroy(): Promise<void> {
    await this.client.destroy();
  }
}
