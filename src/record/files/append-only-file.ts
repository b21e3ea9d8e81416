import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { constants, crc32, deflateRawSync } from "node:zlib";
import { END_OF_MEMBER, HEAD_OF_MEMBER, MEMBER_BYTES } from "./gzip-members.ts";

/** How far back deflate refers, bytes (RFC 1951, 2). */
const WINDOW_BYTES = 32 * 1024;
/**
 * Size of a line above which speed matters more than compression, bytes: a request of 16 MB would block the process for 0.2 s.
 */
const LARGE_BYTES = 256 * 1024;
/** Initial output buffer of a line; zlib takes more if needed, but by default 16 KiB for each line. */
const OUTPUT_BYTES = 1_024;
const NOTHING = Buffer.alloc(0);

/** State of the current gzip member; complete lines only. */
interface Member {
  /** Bytes of its lines before compression. */
  readonly bytes: number;
  readonly checksum: number;
  /** The end of what was written: the next line is compressed with references to it. */
  readonly window: Buffer;
}

const NO_MEMBER: Member = { bytes: 0, checksum: 0, window: NOTHING };

/**
 * A file of lines that is only appended to, compressed as it is written: gzip members of about a mebibyte, in which every line
 * is a separate deflate block, flushed to the byte (as `pigz` joins blocks). When `append` returns, a line is there completely
 * or not at all: what a full disk truncated is removed.
 */
export class AppendOnlyFile implements Disposable {
  readonly #file: number;
  #bytes: number;
  #member = NO_MEMBER;
  #dirty = false;

  /** @param exclusive whether the file must not exist yet. */
  constructor(path: string, exclusive = false) {
    this.#file = openSync(path, exclusive ? "ax" : "a");
    this.#bytes = fstatSync(this.#file).size;
  }

  /** @throws the file system's error if the line cannot be written completely. */
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

  /** Flushes written lines to the disk itself, in the background: a machine that loses power loses one second. */
  sync(): void {
    if (!this.#dirty) return;
    this.#dirty = false;
    // A file system that does not support it has stored the line as well as it can.
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

/** Ends on a byte boundary and without the last-block flag, so that the next line's block can follow. */
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
