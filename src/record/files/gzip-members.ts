import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { constants, inflateRawSync } from "node:zlib";

/** Maximum size of a member before compression, bytes: a reader holds one member in memory at a time. */
export const MEMBER_BYTES = 1 << 20;
/** Fixed header of a member: deflate, no name, no time, no system (RFC 1952, 2.3). */
export const HEAD_OF_MEMBER: Buffer = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty last block. */
export const END_OF_MEMBER: Buffer = Buffer.from([3, 0]);
/** Checksum and length. */
const TAIL_BYTES = 8;

/** Maximum length of a line, bytes: responses are limited to 8 MiB, and escaping makes at most six bytes of one. */
export const MAX_LINE_BYTES = 64 << 20;
/** More than a member and its last line is not unpacked: the file was not written by us, or is a decompression bomb. */
const MAX_UNPACKED = MEMBER_BYTES + MAX_LINE_BYTES;
/** Bytes unpacked in one step. */
const CHUNK_BYTES = 128 * 1024;

/**
 * Reads the members of a file of lines in order, as far as possible: a member truncated by a kill or a lost disk yields what
 * precedes the cut. A missing file has none.
 *
 * @param take gets the content of a member; if it was truncated, the last line may be incomplete.
 */
export function eachMember(path: string, take: (lines: Buffer) => void): void {
  if (!existsSync(path)) return;
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    for (let at = 0; at < size; ) {
      const member = readMember(file, at, size);
      if (member === undefined) return;
      take(member.lines);
      at += member.length;
    }
  } finally {
    closeSync(file);
  }
}

interface Unpacked {
  readonly lines: Buffer;
  /** Its size in the file, bytes. */
  readonly length: number;
}

/** @returns `undefined` if there is no member of ours at this offset. */
function readMember(file: number, at: number, size: number): Unpacked | undefined {
  // Compressed, a member is smaller than its lines, except for one long line that cannot be compressed.
  for (let window = MEMBER_BYTES; ; window *= 4) {
    const bytes = Buffer.allocUnsafe(Math.min(window, size - at));
    const read = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, at));
    if (!read.subarray(0, HEAD_OF_MEMBER.length).equals(HEAD_OF_MEMBER)) return undefined;
    const body = read.subarray(HEAD_OF_MEMBER.length);
    const unpacked = unpack(body);
    // Nothing after damaged data can be found.
    if (unpacked === "damaged") return { lines: soundStart(body), length: size - at };
    if (unpacked === "too large") return undefined;
    // Data follows the last block: the member is complete.
    if (unpacked.length < body.length)
      return { lines: unpacked.lines, length: HEAD_OF_MEMBER.length + unpacked.length + TAIL_BYTES };
    if (at + read.length >= size) return { lines: unpacked.lines, length: size - at };
  }
}

/** Unpacks the bytes, with or without the last block. */
function unpack(body: Buffer): Unpacked | "damaged" | "too large" {
  try {
    // The types lack `info`, which has the number of bytes used.
    const { buffer, engine } = inflateRawSync(body, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: MAX_UNPACKED,
      chunkSize: CHUNK_BYTES,
      info: true,
    }) as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
    return { lines: buffer, length: engine.bytesWritten };
  } catch (error) {
    const tooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return tooLarge ? "too large" : "damaged";
  }
}

/** Unpacks the longest valid prefix: a machine that lost power may leave zeros at the end of a file. */
function soundStart(body: Buffer): Buffer {
  let sound = 0;
  let damaged = body.length;
  while (damaged - sound > 1) {
    const middle = (sound + damaged) >> 1;
    if (typeof unpack(body.subarray(0, middle)) === "string") damaged = middle;
    else sound = middle;
  }
  const start = unpack(body.subarray(0, sound));
  return typeof start === "string" ? Buffer.alloc(0) : start.lines;
}
