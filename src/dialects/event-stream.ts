/** One item of an event stream, with the bytes it was read from (offsets into the decoded body). */
export type StreamItem =
  | {
      readonly kind: "event";
      /** Value of the last `event` field; `undefined` if there was none. */
      readonly name: string | undefined;
      readonly data: string;
      readonly start: number;
      /** Offset one past the blank line that dispatched the event. */
      readonly end: number;
    }
  | { readonly kind: "comment"; readonly text: string; readonly start: number; readonly end: number }
  /** Lines after the last blank line: the standard discards them, but evidence keeps them. */
  | {
      readonly kind: "unterminated";
      readonly name: string | undefined;
      readonly data: string;
      readonly start: number;
      readonly end: number;
    }
  /** A line longer than the limit; its bytes were skipped. */
  | { readonly kind: "oversized"; readonly bytes: number; readonly start: number; readonly end: number };

export interface EventStreamOptions {
  /** Maximum length of a line, bytes; default 4 MiB. A longer one becomes an `oversized` item. */
  readonly maxLineBytes?: number;
}

const CR = 13;
const LF = 10;

/**
 * Decodes an event stream piece by piece. Makes no assumption about chunks: lines end in CRLF, CR or LF, pieces may end
 * anywhere (also inside a character or between CR and LF), the space after a colon is optional, and the end marker of any
 * dialect is just another event.
 *
 * @see WHATWG HTML, 9.2.6 (event stream interpretation)
 */
export class EventStreamDecoder {
  readonly #maxLineBytes: number;
  readonly #text = new TextDecoder("utf-8", { ignoreBOM: true });
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #skipping = 0;
  #offset = 0;
  #lineStart = 0;
  #afterCr = false;
  #firstLine = true;
  #data: string[] = [];
  #name: string | undefined;
  #eventStart = 0;
  #inEvent = false;

  constructor({ maxLineBytes = 4 * 1024 * 1024 }: EventStreamOptions = {}) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Takes the next bytes and returns the items that they completed, in order. */
  feed(bytes: Uint8Array): StreamItem[] {
    const found: StreamItem[] = [];
    let from = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      // The LF of a CRLF belongs to the line that the CR already ended: as a separate line it would be blank and dispatch an
      // event in the middle.
      if (this.#afterCr) {
        this.#afterCr = false;
        if (byte === LF) {
          from = at + 1;
          this.#lineStart = this.#offset + at + 1;
          continue;
        }
      }
      if (byte !== CR && byte !== LF) continue;
      const isWhole = this.#pendingBytes === 0 && this.#skipping === 0 && at - from <= this.#maxLineBytes;
      if (!isWhole) this.#keep(bytes.subarray(from, at));
      this.#endLine(isWhole ? this.#decode(bytes, from, at) : undefined, this.#offset + at + 1, found);
      from = at + 1;
      this.#lineStart = this.#offset + at + 1;
      this.#afterCr = byte === CR;
    }
    this.#keep(bytes.subarray(from));
    this.#offset += bytes.length;
    return found;
  }

  /** Ends the stream: lines that were not dispatched become `unterminated`, so that no byte is lost. */
  end(): StreamItem[] {
    const found: StreamItem[] = [];
    if (this.#pendingBytes > 0 || this.#skipping > 0) this.#endLine(undefined, this.#offset, found);
    if (this.#inEvent) {
      found.push({
        kind: "unterminated",
        name: this.#name,
        data: this.#data.join("\n"),
        start: this.#eventStart,
        end: this.#offset,
      });
      this.#reset();
    }
    return found;
  }

  #keep(piece: Uint8Array): void {
    if (piece.length === 0) return;
    if (this.#skipping > 0 || this.#pendingBytes + piece.length > this.#maxLineBytes) {
      this.#skipping += this.#pendingBytes + piece.length;
      this.#pending = [];
      this.#pendingBytes = 0;
      return;
    }
    // Copied, because the caller may reuse its buffer before the line ends.
    this.#pending.push(piece.slice());
    this.#pendingBytes += piece.length;
  }

  /** Decodes a line that lies within one piece, without copying it. */
  #decode(bytes: Uint8Array, from: number, to: number): string {
    return from === to ? "" : this.#text.decode(bytes.subarray(from, to));
  }

  /** @param whole the decoded line; `undefined` if its bytes are in `#pending`. */
  #endLine(whole: string | undefined, end: number, found: StreamItem[]): void {
    const start = this.#lineStart;
    if (this.#skipping > 0) {
      found.push({ kind: "oversized", bytes: this.#skipping, start, end });
      this.#skipping = 0;
      return;
    }
    let line = whole ?? this.#text.decode(join(this.#pending, this.#pendingBytes));
    if (whole === undefined) {
      this.#pending = [];
      this.#pendingBytes = 0;
    }
    if (this.#firstLine) {
      this.#firstLine = false;
      if (line.startsWith("\uFEFF")) line = line.slice(1);
    }
    if (line === "") this.#dispatch(end, found);
    else this.#field(line, start, end, found);
  }

  #field(line: string, start: number, end: number, found: StreamItem[]): void {
    const colon = line.indexOf(":");
    if (colon === 0) {
      found.push({ kind: "comment", text: line.slice(1).replace(/^ /, ""), start, end });
      return;
    }
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (!this.#inEvent) this.#eventStart = start;
    this.#inEvent = true;
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#name = value;
  }

  #dispatch(end: number, found: StreamItem[]): void {
    // The standard does not dispatch an event without a data field; a name alone is still evidence.
    if (this.#inEvent && (this.#data.length > 0 || this.#name !== undefined)) {
      found.push({ kind: "event", name: this.#name, data: this.#data.join("\n"), start: this.#eventStart, end });
    }
    this.#reset();
  }

  #reset(): void {
    this.#data = [];
    this.#name = undefined;
    this.#inEvent = false;
  }
}

function join(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

export function decodeEventStream(body: Uint8Array, options?: EventStreamOptions): StreamItem[] {
  const decoder = new EventStreamDecoder(options);
  return [...decoder.feed(body), ...decoder.end()];
}
