import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { constants, inflateRawSync } from "node:zlib";

/** A member takes lines until it holds so much, bytes before compression: a reader has one of them in memory at a time. */
export const MEMBER_BYTES = 1 << 20;
/** Fixed head of a member: deflate, no name, no time, no system (RFC 1952, 2.3). */
export const HEAD_OF_MEMBER: Buffer = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty last block. */
export const END_OF_MEMBER: Buffer = Buffer.from([3, 0]);
/** Checksum and length. */
const TAIL_BYTES = 8;

/** Longest line that is read, bytes: answers are bounded to 8 MiB, escaping makes six of one at most. */
export const MAX_LINE_BYTES = 64 << 20;
/** More than a member and its last line is not unpacked: the file comes from somewhere else, or is a bomb. */
const MAX_UNPACKED = MEMBER_BYTES + MAX_LINE_BYTES;
/** Unpacked at once, bytes. */
const CHUNK_BYTES = 128 * 1024;

/**
 * Reads the members of a file of lines in order, as far as they can be read: one that a kill or a lost disk cut off gives
 * what stands before the cut. A file that is not there has none.
 *
 * @param take gets what a member held; where it was cut, the last line may be without its end.
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
  /** Bytes that it takes in the file. */
  readonly length: number;
}

/** @returns `undefined` when there is no member of ours at this place. */
function readMember(file: number, at: number, size: number): Unpacked | undefined {
  // Compressed it is smaller than its lines, but for one long line that cannot be compressed.
  for (let window = MEMBER_BYTES; ; window *= 4) {
    const bytes = Buffer.allocUnsafe(Math.min(window, size - at));
    const read = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, at));
    if (!read.subarray(0, HEAD_OF_MEMBER.length).equals(HEAD_OF_MEMBER)) return undefined;
    const body = read.subarray(HEAD_OF_MEMBER.length);
    const unpacked = unpack(body);
    // Nothing that follows a damage can be found any more.
    if (unpacked === "damaged") return { lines: soundStart(body), length: size - at };
    if (unpacked === "too large") return undefined;
    // Something stands behind the last block: the member is whole.
    if (unpacked.length < body.length)
      return { lines: unpacked.lines, length: HEAD_OF_MEMBER.length + unpacked.length + TAIL_BYTES };
    if (at + read.length >= size) return { lines: unpacked.lines, length: size - at };
  }
}

/** Unpacks what the bytes hold, whether or not the last block is among them. */
function unpack(body: Buffer): Unpacked | "damaged" | "too large" {
  try {
    // The types know nothing of `info`, which tells how many bytes were used.
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

/** Unpacks the longest beginning that is sound: a machine that lost power may leave zeros at the end of a file. */
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
