/** Longest head of an interim response, bytes: as undici allows for any head. */
const MAX_HEAD_BYTES = 256 * 1024;
/** Interim responses before one final one. A gateway that works for an hour and says so every second sends 3,600. */
export const MAX_INTERIM = 4_000;

/**
 * Takes `100 Continue` out of the bytes of a connection before the HTTP parser sees them.
 *
 * A client must be able to read interim responses that it did not ask for (RFC 9110, 15.2). undici destroys the
 * connection on an unexpected 100, and a sound gateway would be blamed for it.
 */
export class InterimFilter {
  /** Not yet known; bounded, because a head may be without end. */
  #held: Buffer[] = [];
  #armed = false;
  /** How many interim responses were taken out since the filter was armed. */
  removed = 0;

  /** Call when a request goes out: the next bytes begin a response. */
  arm(): void {
    this.#armed = true;
    this.removed = 0;
  }

  /** @returns the bytes for the parser; empty while it is not known yet whether they belong to a 100. */
  pass(bytes: Buffer): Buffer {
    if (!this.#armed) return bytes;
    this.#held.push(bytes);
    let seen = Buffer.concat(this.#held);
    for (;;) {
      // Not enough to tell; a gateway may write byte by byte.
      if (isPrefixOf(seen, "HTTP/1.1 100") && seen.length < 12) break;
      if (!isPrefixOf(seen, "HTTP/1.1 100")) return this.#release(seen);
      const end = seen.indexOf("\r\n\r\n");
      // Without a bound on either, a gateway that sends nothing but 100s, or one that never ends, fills the memory.
      if (end === -1 ? seen.length > MAX_HEAD_BYTES : this.removed >= MAX_INTERIM) return this.#release(seen);
      if (end === -1) break;
      this.removed++;
      seen = seen.subarray(end + 4);
      if (seen.length === 0) break;
    }
    this.#held = [seen];
    return Buffer.alloc(0);
  }

  /** What is still held when the connection ends. */
  flush(): Buffer {
    return this.#release(Buffer.concat(this.#held));
  }

  #release(bytes: Buffer): Buffer {
    this.#armed = false;
    this.#held = [];
    return bytes;
  }
}

/** Whether the bytes agree with the text as far as both go. */
function isPrefixOf(bytes: Buffer, text: string): boolean {
  const length = Math.min(bytes.length, text.length);
  return bytes.subarray(0, length).toString("latin1") === text.slice(0, length);
}
