import type { TimedPiece } from "./decode-body.ts";

const FEWEST = 16;
const GROWTH = 1.5;

/**
 * The pieces of a body with their moments, in one buffer. A body in chunks of one byte would otherwise cost hundreds of
 * times its size. When there are as many as are kept, neighbours become one, and from then on as many reads make a piece: moments
 * grow coarser, everywhere alike. The first piece, by which the beginning of an answer is timed, stays as it came.
 */
export class PieceList {
  readonly #most: number;
  #buffer: Buffer = Buffer.alloc(0);
  /** Moment and end of each piece, µs and bytes. */
  readonly #atUs: number[] = [];
  readonly #ends: number[] = [];
  #bytes = 0;
  /** Reads that make a piece, and those of the last one so far. */
  #readsOfPiece = 1;
  #readsOfLast = 1;
  /** Network reads so far. */
  reads = 0;

  /** @param most pieces that are kept apart; at least 16 are. */
  constructor(most: number) {
    this.#most = Math.max(FEWEST, most);
  }

  /** @param bytes copied, because they are a view of the connection's buffer. */
  add(atUs: number, bytes: Buffer): void {
    this.reads++;
    const end = this.#bytes + bytes.length;
    if (end > this.#buffer.length) {
      const wider = Buffer.allocUnsafe(this.#bytes === 0 ? end : Math.ceil(end * GROWTH));
      this.#buffer.copy(wider, 0, 0, this.#bytes);
      this.#buffer = wider;
    }
    bytes.copy(this.#buffer, this.#bytes);
    this.#bytes = end;
    if (this.#ends.length > 1 && this.#readsOfLast < this.#readsOfPiece) {
      this.#readsOfLast++;
      this.#atUs[this.#atUs.length - 1] = atUs;
      this.#ends[this.#ends.length - 1] = end;
      return;
    }
    if (this.#ends.length >= this.#most) this.#joinNeighbours();
    this.#readsOfLast = 1;
    this.#atUs.push(atUs);
    this.#ends.push(end);
  }

  /** All but the first, two and two: with the moment at which the later one was there. */
  #joinNeighbours(): void {
    let kept = 1;
    for (let at = 2; at < this.#ends.length; at += 2, kept++) {
      this.#atUs[kept] = this.#atUs[at] as number;
      this.#ends[kept] = this.#ends[at] as number;
    }
    // One without a neighbour stays as it is.
    if (this.#ends.length % 2 === 0) {
      this.#atUs[kept] = this.#atUs.at(-1) as number;
      this.#ends[kept++] = this.#ends.at(-1) as number;
    }
    this.#atUs.length = kept;
    this.#ends.length = kept;
    this.#readsOfPiece *= 2;
  }

  /** All pieces, in order. */
  close(): readonly TimedPiece[] {
    return this.#ends.map((end, at) => ({
      atUs: this.#atUs[at] as number,
      bytes: this.#buffer.subarray(this.#ends[at - 1] ?? 0, end),
    }));
  }
}
