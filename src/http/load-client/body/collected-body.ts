/** The size of one read of a connection. */
const BLOCK_BYTES = 64 * 1024;
/** Once there are this many free blocks (32 MiB), no more are kept for reuse. */
const MAX_SPARE = 512;
const spare: Buffer[] = [];

/**
 * The body of a reply, as latin1 text, which preserves every byte. Most bodies arrive in one read. The later reads of
 * longer ones are copied into reusable blocks: neither one-byte chunks nor endless bodies on many connections then create garbage faster than
 * it is collected.
 */
export class CollectedBody {
  #first = "";
  #blocks: Buffer[] = [];
  /** Used bytes in the last block. */
  #used = BLOCK_BYTES;

  append(bytes: Buffer, from: number, to: number): void {
    if (this.#first === "") this.#first = bytes.toString("latin1", from, to);
    else this.#copy(bytes, from, to);
  }

  #copy(bytes: Buffer, from: number, to: number): void {
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

  text(): string {
    const last = this.#blocks.length - 1;
    const texts = this.#blocks.map((block, index) =>
      block.toString("latin1", 0, index === last ? this.#used : undefined),
    );
    return this.#first + texts.join("");
  }

  /** Discards the text and returns the blocks for reuse. */
  release(): void {
    if (spare.length < MAX_SPARE) spare.push(...this.#blocks);
    this.#first = "";
    this.#blocks = [];
    this.#used = BLOCK_BYTES;
  }
}
