/** Maximum length of an interim response's head, bytes: undici's limit for any head. */
const MAX_HEAD_BYTES = 256 * 1024;
/**
 * Maximum number of interim responses before a final one. A gateway that works for an hour and reports every second sends 3,600.
 */
export const MAX_INTERIM = 4_000;
/** Maximum size of the fields of all interim responses together, bytes. */
export const MAX_INTERIM_BYTES = 1_048_576;

/**
 * Removes `100 Continue` from the bytes of a connection before the HTTP parser sees them.
 *
 * A client must be able to parse interim responses that it did not expect (RFC 9110, 15.2). undici destroys the connection on an
 * unexpected 100, and a conformant gateway would be blamed for it.
 */
export class InterimFilter {
  /** Undecided bytes; bounded, because a head may be endless. */
  #held: Buffer[] = [];
  #armed = false;
  /** How many interim responses were removed since the filter was armed. */
  removed = 0;

  /** Call when a request is sent: the next bytes start a response. */
  arm(): void {
    this.#armed = true;
    this.removed = 0;
  }

  /** @returns the bytes for the parser; empty while it is undecided whether they belong to a 100. */
  pass(bytes: Buffer): Buffer {
    if (!this.#armed) return bytes;
    this.#held.push(bytes);
    let seen = Buffer.concat(this.#held);
    for (;;) {
      // Too short to decide; a gateway may write byte by byte.
      if (isPrefixOf(seen, "HTTP/1.1 100") && seen.length < 12) break;
      if (!isPrefixOf(seen, "HTTP/1.1 100")) return this.#release(seen);
      const end = seen.indexOf("\r\n\r\n");
      // Without both bounds, a gateway that sends only 100s, or an endless one, would fill the memory.
      if (end === -1 ? seen.length > MAX_HEAD_BYTES : this.removed >= MAX_INTERIM) return this.#release(seen);
      if (end === -1) break;
      this.removed++;
      seen = seen.subarray(end + 4);
      if (seen.length === 0) break;
    }
    this.#held = [seen];
    return Buffer.alloc(0);
  }

  /** Bytes still held when the connection ends. */
  flush(): Buffer {
    return this.#release(Buffer.concat(this.#held));
  }

  #release(bytes: Buffer): Buffer {
    this.#armed = false;
    this.#held = [];
    return bytes;
  }
}

/** Whether the bytes and the text agree up to the shorter length. */
function isPrefixOf(bytes: Buffer, text: string): boolean {
  const length = Math.min(bytes.length, text.length);
  return bytes.subarray(0, length).toString("latin1") === text.slice(0, length);
}
