import { brotliDecompressSync, constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { messageOf } from "../../core/index.ts";

/** One is usual, two are rare; with a list of a hundred, a few bytes could cost a hundred decompressions. */
const MAX_CODINGS = 4;

/** A piece of a body with its arrival time. */
export interface TimedPiece {
  readonly atUs: number;
  readonly bytes: Uint8Array;
}

export interface DecodedBody {
  readonly pieces: readonly TimedPiece[];
  /** Why decoding failed; the pieces are then as received. */
  readonly error: string | undefined;
  /** Whether the decoded body was truncated at the bound. */
  readonly overBound: boolean;
}

/**
 * Undoes the content encoding piece by piece, so that each decoded piece keeps the arrival time of the bytes that completed it.
 * Runs after the exchange, so that decompression never affects timing.
 *
 * @param encoding value of `Content-Encoding`; codings are undone from the last to the first (RFC 9110, 8.4).
 * @param maxBytes bound on the decoded length, against decompression bombs.
 * @param whole whether the body arrived completely; a truncated one may end inside a compressed block without that being an
 * error.
 */
export async function decodeBody(
  received: readonly TimedPiece[],
  encoding: string | undefined,
  maxBytes: number,
  whole: boolean,
): Promise<DecodedBody> {
  const codings = (encoding ?? "")
    .split(",")
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== "" && coding !== "identity");
  // A response to HEAD has the same headers as one to GET, but nothing to decode.
  if (received.length === 0) return { pieces: [], error: undefined, overBound: false };
  let pieces = received;
  let overBound = false;
  if (codings.length > MAX_CODINGS)
    return { pieces: received, error: `${codings.length} content codings`, overBound: false };
  for (const coding of codings.reverse()) {
    try {
      const decoded = await undo(coding, pieces, maxBytes, whole && !overBound);
      pieces = decoded.pieces;
      overBound ||= decoded.overBound;
    } catch (error) {
      return { pieces: received, error: `${coding}: ${messageOf(error)}`, overBound: false };
    }
  }
  return { pieces, error: undefined, overBound };
}

/** The pieces that start within the first `bytes`. */
export function beginningOf(pieces: readonly TimedPiece[], bytes: number): readonly TimedPiece[] {
  const kept: TimedPiece[] = [];
  let left = bytes;
  for (const piece of pieces) {
    if (left <= 0) break;
    kept.push(piece.bytes.length <= left ? piece : { ...piece, bytes: Buffer.from(piece.bytes.subarray(0, left)) });
    left -= piece.bytes.length;
  }
  return kept;
}

/**
 * Whether the data would still be complete without its last byte. Node's streaming brotli decoder neither ends nor fails on such
 * data; the other decoders report it.
 *
 * @param decodedBytes length of that decoder's output.
 */
function hasMoreThanBrotli(pieces: readonly TimedPiece[], decodedBytes: number): boolean {
  const data = Buffer.concat(pieces.map(({ bytes }) => bytes));
  try {
    brotliDecompressSync(data.subarray(0, -1), { maxOutputLength: Math.max(1, decodedBytes) });
    return true;
  } catch {
    // Incomplete without its last byte: nothing follows the compressed data.
    return false;
  }
}

function decompressor(coding: string, whole: boolean) {
  const flush = constants.Z_SYNC_FLUSH;
  const zlib = whole ? { flush } : { flush, finishFlush: flush };
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip(zlib);
    case "deflate":
      return createInflate(zlib);
    case "br": {
      const brotliFlush = constants.BROTLI_OPERATION_FLUSH;
      return createBrotliDecompress(whole ? { flush: brotliFlush } : { flush: brotliFlush, finishFlush: brotliFlush });
    }
    default:
      throw new Error("a content coding that was not requested");
  }
}

async function undo(coding: string, pieces: readonly TimedPiece[], maxBytes: number, whole: boolean) {
  const stream = decompressor(coding, whole);
  const decoded: TimedPiece[] = [];
  let total = 0;
  let output: Uint8Array[] = [];
  let finish: (what: "over") => void = () => undefined;
  const over = new Promise<"over">((done) => {
    finish = done;
  });
  stream.on("data", (bytes: Buffer) => {
    // A few kilobytes may expand to gigabytes: the bound also applies inside a piece.
    if (total > maxBytes) return;
    output.push(bytes);
    total += bytes.length;
    if (total <= maxBytes) return;
    finish("over");
    stream.destroy();
  });
  const failed = new Promise<never>((_, reject) => stream.once("error", reject));
  // Self-delimiting compressed data may end before the last piece.
  const ended = new Promise<void>((done) => stream.once("end", done));
  // Without a handler, a failure after the last await would end the process.
  failed.catch(() => undefined);
  const collect = (atUs: number) => {
    if (output.length > 0) decoded.push({ atUs, bytes: Buffer.concat(output) });
    output = [];
  };
  try {
    for (const { atUs, bytes } of pieces) {
      const written = new Promise<void>((done) => stream.write(bytes, () => done()));
      await Promise.race([failed, written, over]);
      collect(atUs);
      if (total > maxBytes) return { pieces: decoded, overBound: true };
    }
    stream.end();
    await Promise.race([failed, ended, over]);
    collect(pieces.at(-1)?.atUs ?? 0);
    const isOver = total > maxBytes;
    if (coding === "br" && !isOver && hasMoreThanBrotli(pieces, total))
      throw new Error("bytes follow the compressed data");
    return { pieces: decoded, overBound: isOver };
  } finally {
    stream.destroy();
  }
}
