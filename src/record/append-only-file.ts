import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { constants, crc32, deflateRawSync } from "node:zlib";
import { END_OF_MEMBER, HEAD_OF_MEMBER, MEMBER_BYTES } from "./gzip-members.ts";

/** How far back deflate refers, bytes (RFC 1951, 2). */
const WINDOW_BYTES = 32 * 1024;
/** A line from which on speed counts more than size, bytes: a request of 16 MB would hold up the process for 0.2 s. */
const LARGE_BYTES = 256 * 1024;
/** Room for what a line is compressed to; zlib takes more when it needs it, and by itself 16 KiB for each line. */
const OUTPUT_BYTES = 1_024;
const NOTHING = Buffer.alloc(0);

/** What the pieces of the gzip member under way have in common; whole pieces only. */
interface Member {
  /** Lines in it, bytes before compression. */
  readonly bytes: number;
  readonly checksum: number;
  /** The end of what was written: the next line is compressed by reference to it. */
  readonly window: Buffer;
}

const NO_MEMBER: Member = { bytes: 0, checksum: 0, window: NOTHING };

/**
 * A file of lines that grows and never changes, compressed as it is written: gzip members of about a mebibyte, and in
 * each every line as a deflate block of its own, flushed to the byte (as `pigz` joins blocks). A line is there whole when
 * `append` returns, or not at all: what a full disk cut off is taken away again.
 */
export class AppendOnlyFile implements Disposable {
  readonly #file: number;
  #bytes: number;
  #member = NO_MEMBER;
  #dirty = false;

  /** @param exclusive whether the file must not be there yet. */
  constructor(path: string, exclusive = false) {
    this.#file = openSync(path, exclusive ? "ax" : "a");
    this.#bytes = fstatSync(this.#file).size;
  }

  /** @throws what the file system says when the line cannot be written whole. */
  append(value: object): void {
    const line = Buffer.from(`${JSON.stringify(value)}\n`);
    const full = this.#member.bytes >= MEMBER_BYTES;
    const before = full ? NO_MEMBER : this.#member;
    const start = before.bytes === 0 ? HEAD_OF_MEMBER : NOTHING;
    this.#write(Buffer.concat([full ? endOf(this.#member) : NOTHING, start, compress(line, before.window)]));
    this.#member = {
      bytes: before.bytes + line.length,
      checksum: crc32(line, before.checksum),
      window: Buffer.from(Buffer.concat([before.window, line.subarray(-WINDOW_BYTES)]).subarray(-WINDOW_BYTES)),
    };
    this.#dirty = true;
  }

  #write(bytes: Buffer): void {
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    } catch (error) {
      ftruncateSync(this.#file, this.#bytes);
      throw error;
    }
    this.#bytes += bytes.length;
  }

  /** Puts what was written onto the disk itself, in the background: a machine that loses power loses a second. */
  sync(): void {
    if (!this.#dirty) return;
    this.#dirty = false;
    // A file system that cannot do it has kept the line as well as it can.
    fdatasync(this.#file, () => undefined);
  }

  [Symbol.dispose](): void {
    try {
      // A file without lines stays empty.
      if (this.#member.bytes > 0) this.#write(endOf(this.#member));
    } catch {
      // The disk is full: every line is there, and only the checksum at the end is missing.
    }
    closeSync(this.#file);
  }
}

/** Ends on a whole byte and without being the last block, so that the next line's block can follow. */
function compress(line: Buffer, window: Buffer): Buffer {
  const large = line.length > LARGE_BYTES;
  return deflateRawSync(line, {
    level: large ? constants.Z_BEST_SPEED : constants.Z_DEFAULT_COMPRESSION,
    ...(large ? {} : { chunkSize: OUTPUT_BYTES }),
    finishFlush: constants.Z_SYNC_FLUSH,
    ...(window.length === 0 ? {} : { dictionary: window }),
  });
}

/** The last block, checksum and length of a member (RFC 1952, 2.3.1). */
function endOf({ bytes, checksum }: Member): Buffer {
  const end = Buffer.alloc(END_OF_MEMBER.length + 8);
  END_OF_MEMBER.copy(end);
  end.writeUInt32LE(checksum, END_OF_MEMBER.length);
  end.writeUInt32LE(bytes % 2 ** 32, END_OF_MEMBER.length + 4);
  return end;
}
