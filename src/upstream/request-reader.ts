/** A request as received. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** Request line and fields, without the empty line. */
  readonly head: string;
  readonly body: Buffer;
  /** The encoded size of the body is not kept. */
  readonly keepAlive: boolean;
}

/** Maximum size of a head and of a body, bytes. */
const MAX_HEAD_BYTES = 65_536;
const MAX_BODY_BYTES = 67_108_864;
const EMPTY = Buffer.alloc(0);

/** A malformed request, with the response to it. */
export class BadRequest extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Head extends Omit<RawRequest, "body"> {
  readonly expectsContinue: boolean;
}

/** Splits the bytes of a connection into requests (RFC 9112). */
export class RequestReader {
  readonly #onContinue: () => void;
  #rest: Buffer = EMPTY;
  #head: Head | undefined;
  #body: Buffer[] = [];
  #bodyBytes = 0;
  /** Missing bytes of the body, or of its current chunk. */
  #missing = 0;
  #chunk: "none" | "size" | "data" | "end" | "trailer" = "none";

  /** @param onContinue called when a client waits for `100 Continue`. */
  constructor(onContinue: () => void) {
    this.#onContinue = onContinue;
  }

  /** Takes received bytes, and yields the requests that are complete. @throws BadRequest */
  *push(bytes: Buffer): Generator<RawRequest> {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (;;) {
      if (this.#head === undefined && !this.#readHead()) return;
      if (!(this.#chunk === "none" ? this.#takeData() : this.#readChunks())) return;
      yield this.#finish();
    }
  }

  #finish(): RawRequest {
    const { expectsContinue: _, ...head } = this.#head as Head;
    const body = this.#body.length === 1 ? (this.#body[0] as Buffer) : Buffer.concat(this.#body);
    this.#head = undefined;
    this.#body = [];
    this.#bodyBytes = 0;
    this.#chunk = "none";
    return { ...head, body };
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf("\r\n\r\n");
    if (end > MAX_HEAD_BYTES || (end < 0 && this.#rest.length > MAX_HEAD_BYTES))
      throw new BadRequest(431, "the head is too long");
    if (end < 0) return false;
    const head = this.#rest.toString("latin1", 0, end);
    this.#rest = this.#rest.subarray(end + 4);
    const line = /^([A-Z]+) (\S+) HTTP\/1\.([01])(?:\r\n|$)/.exec(head);
    if (line === null) throw new BadRequest(400, "no request line of HTTP/1.1");
    const [, method = "", path = "", minor] = line;
    const fields = head.toLowerCase();
    const connection = fieldOf(fields, "connection");
    const keepAlive = minor === "1" ? connection !== "close" : connection === "keep-alive";
    const expectsContinue = fieldOf(fields, "expect") === "100-continue";
    this.#head = { method, path, head, keepAlive, expectsContinue };
    this.#beginBody(fields);
    if (expectsContinue && this.#rest.length === 0) this.#onContinue();
    return true;
  }

  #beginBody(fields: string): void {
    if (fieldOf(fields, "transfer-encoding") === "chunked") {
      this.#chunk = "size";
      return;
    }
    const length = fieldOf(fields, "content-length") ?? "0";
    if (!/^\d+$/.test(length)) throw new BadRequest(400, "no usable content-length");
    if (Number(length) > MAX_BODY_BYTES) throw new BadRequest(413, "the body is too long");
    this.#missing = Number(length);
  }

  /** @returns whether nothing is missing any longer. */
  #takeData(): boolean {
    const part = this.#rest.subarray(0, this.#missing);
    this.#rest = this.#rest.subarray(part.length);
    this.#missing -= part.length;
    this.#bodyBytes += part.length;
    if (this.#bodyBytes > MAX_BODY_BYTES) throw new BadRequest(413, "the body is too long");
    if (part.length > 0) this.#body.push(part);
    return this.#missing === 0;
  }

  /** @returns whether the last chunk and its trailers have been read. */
  #readChunks(): boolean {
    for (;;) {
      if (this.#chunk === "data") {
        if (!this.#takeData()) return false;
        this.#chunk = "end";
      }
      const line = this.#line();
      if (line === undefined) return false;
      if (this.#chunk === "trailer") {
        if (line === "") return true;
      } else if (this.#chunk === "end") {
        if (line !== "") throw new BadRequest(400, "a chunk is longer than it says");
        this.#chunk = "size";
      } else {
        const size = /^([0-9a-f]{1,8})\s*(?:;|$)/i.exec(line)?.[1];
        if (size === undefined) throw new BadRequest(400, "no usable chunk size");
        this.#missing = Number.parseInt(size, 16);
        this.#chunk = this.#missing === 0 ? "trailer" : "data";
      }
    }
  }

  #line(): string | undefined {
    const end = this.#rest.indexOf("\r\n");
    if (end < 0 && this.#rest.length > MAX_HEAD_BYTES) throw new BadRequest(431, "a line is too long");
    if (end < 0) return undefined;
    const line = this.#rest.toString("latin1", 0, end);
    this.#rest = this.#rest.subarray(end + 2);
    return line;
  }
}

/** The value of a header field, in lower case. */
function fieldOf(head: string, name: string): string | undefined {
  const at = head.indexOf(`\r\n${name}:`);
  if (at < 0) return undefined;
  const from = at + name.length + 3;
  const end = head.indexOf("\r\n", from);
  return head.slice(from, end < 0 ? undefined : end).trim();
}
