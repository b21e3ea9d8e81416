import type { TimedPiece } from "./decode-body.ts";

const MIN_PIECES = 16;
const GROWTH = 1.5;

/**
 * The pieces of a body with their arrival times, in one buffer. Otherwise, a body in chunks of one byte would take hundreds of
 * times its size. When the list is full, neighbours are merged, and from then on each piece covers twice as many reads: times
 * become coarser, evenly across the list. The first piece, which times the start of a response, is never merged.
 */
export class PieceList {
  readonly #max: number;
  #buffer: Buffer = Buffer.alloc(0);
  /** Arrival time and end offset of each piece, µs and bytes. */
  readonly #atUs: number[] = [];
  readonly #ends: number[] = [];
  #bytes = 0;
  /** Reads per piece, and reads in the last piece so far. */
  #readsOfPiece = 1;
  #readsOfLast = 1;
  /** Network reads so far. */
  reads = 0;

  /** @param max maximum number of pieces kept separate; at least 16. */
  constructor(max: number) {
    this.#max = Math.max(MIN_PIECES, max);
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
    if (this.#ends.length >= this.#max) this.#joinNeighbours();
    this.#readsOfLast = 1;
    this.#atUs.push(atUs);
    this.#ends.push(end);
  }

  /** Merges all pieces except the first in pairs, with the arrival time of the later one. */
  #joinNeighbours(): void {
    let kept = 1;
    for (let at = 2; at < this.#ends.length; at += 2, kept++) {
      this.#atUs[kept] = this.#atUs[at] as number;
      this.#ends[kept] = this.#ends[at] as number;
    }
    // An unpaired piece is kept as it is.
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
