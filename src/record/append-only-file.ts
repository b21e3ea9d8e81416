import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";

/**
 * A file of lines that grows and never changes. A line is there whole or not at all: what a full disk cut off is taken
 * away again.
 */
export class AppendOnlyFile implements Disposable {
  readonly #file: number;
  #bytes: number;
  #dirty = false;

  /** @param exclusive whether the file must not be there yet. */
  constructor(path: string, exclusive = false) {
    this.#file = openSync(path, exclusive ? "ax" : "a");
    this.#bytes = fstatSync(this.#file).size;
  }

  /** @throws what the file system says when the line cannot be written whole. */
  append(value: object): void {
    const line = Buffer.from(`${JSON.stringify(value)}\n`);
    try {
      for (let at = 0; at < line.length; ) at += writeSync(this.#file, line, at);
    } catch (error) {
      ftruncateSync(this.#file, this.#bytes);
      throw error;
    }
    this.#bytes += line.length;
    this.#dirty = true;
  }

  /** Puts what was written onto the disk itself, in the background: a machine that loses power loses a second. */
  sync(): void {
    if (!this.#dirty) return;
    this.#dirty = false;
    // A file system that cannot do it has kept the line as well as it can.
    fdatasync(this.#file, () => undefined);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}
