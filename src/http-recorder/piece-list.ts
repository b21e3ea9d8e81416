import type { TimedPiece } from "./decode-body.ts";

/** Pieces that are kept apart: more than any reply of a model has within the bound on its size. */
const MOST_PIECES = 20_000;

/**
 * The pieces of a body with their moments. A body in chunks of one byte would cost a hundred times its size; from a
 * bound on, what comes is one last piece with the moment of its first bytes.
 */
export class PieceList {
  readonly #pieces: TimedPiece[] = [];
  #last: Buffer = Buffer.alloc(0);
  #lastBytes = 0;
  #lastAtUs = 0;

  /** @param bytes copied, because they are a view of the connection's buffer. */
  add(atUs: number, bytes: Buffer): void {
    if (this.#pieces.length < MOST_PIECES) {
      this.#pieces.push({ atUs, bytes: Buffer.from(bytes) });
      return;
    }
    if (this.#lastBytes === 0) this.#lastAtUs = atUs;
    const length = this.#lastBytes + bytes.length;
    if (length > this.#last.length) {
      const wider = Buffer.allocUnsafe(length * 2);
      this.#last.copy(wider, 0, 0, this.#lastBytes);
      this.#last = wider;
    }
    bytes.copy(this.#last, this.#lastBytes);
    this.#lastBytes = length;
  }

  /** All pieces, in order. */
  close(): readonly TimedPiece[] {
    if (this.#lastBytes === 0) return this.#pieces;
    return [...this.#pieces, { atUs: this.#lastAtUs, bytes: this.#last.subarray(0, this.#lastBytes) }];
  }
}
