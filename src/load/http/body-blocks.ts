/** The size of one read of a connection. */
const BLOCK_BYTES = 64 * 1024;
/** Maximum number of free blocks kept for reuse: 32 MiB. */
const MAX_SPARE = 512;
const spare: Buffer[] = [];

/**
 * A body of many reads, in reusable blocks. Neither one-byte chunks nor endless bodies on many connections then create garbage
 * faster than it is collected.
 */
export class BodyBlocks {
  #blocks: Buffer[] = [];
  /** Used bytes in the last block. */
  #used = BLOCK_BYTES;

  append(bytes: Buffer, from: number, to: number): void {
    for (let at = from; at < to; ) {
      if (this.#used === BLOCK_BYTES) {
        this.#blocks.push(spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES));
        this.#used = 0;
      }
      const block = this.#blocks.at(-1) as Buffer;
      const copied = bytes.copy(block, this.#used, at, Math.min(to, at + BLOCK_BYTES - this.#used));
      this.#used += copied;
      at += copied;
    }
  }

  /** What was appended. A copy: the blocks are reused after `release`. */
  bytes(): Buffer {
    const last = this.#blocks.length - 1;
    return Buffer.concat(this.#blocks.map((block, index) => (index === last ? block.subarray(0, this.#used) : block)));
  }

  release(): void {
    if (spare.length < MAX_SPARE) spare.push(...this.#blocks);
    this.#blocks = [];
    this.#used = BLOCK_BYTES;
  }
}
