/** Part of a captured body, with the moment of the network read that delivered it. */
export class CapturedPiece {
  readonly atUs: number;
  #length: number;
  /** May have spare capacity: chunks of the same read are appended. */
  #buffer: Buffer;

  constructor(atUs: number, bytes: Buffer) {
    this.atUs = atUs;
    this.#buffer = Buffer.from(bytes);
    this.#length = bytes.length;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  get length(): number {
    return this.#length;
  }

  append(bytes: Buffer, from: number, to: number): void {
    const length = this.#length + to - from;
    if (this.#buffer.length < length) {
      const larger = Buffer.allocUnsafe(2 * length);
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    bytes.copy(this.#buffer, this.#length, from, to);
    this.#length = length;
  }
}
