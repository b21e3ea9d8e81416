import { constants, crc32, deflateRawSync } from "node:zlib";
import type { Step } from "../../pipeline/response.ts";

const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** An empty last block: the stream's end (RFC 1951, 3.2.3). */
const LAST_BLOCK = Buffer.from([0x03, 0x00]);

/**
 * Compresses the steps of a stream into one gzip member, and keeps their times: each step is flushed, so that a reader can
 * decompress it on arrival. Blocks do not refer to earlier steps, which costs size and avoids a persistent compressor.
 */
export function* gzipSteps(steps: Iterable<Step>): Generator<Step> {
  let checksum = 0;
  let size = 0;
  let first = true;
  let lastMs = 0;
  for (const step of steps) {
    const bytes = Buffer.from(step.bytes as Uint8Array);
    checksum = crc32(bytes, checksum);
    size += bytes.length;
    lastMs = step.atMs;
    const packed = deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
    yield { ...step, bytes: first ? Buffer.concat([HEAD, packed]) : packed };
    first = false;
  }
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(checksum >>> 0, 0);
  tail.writeUInt32LE(size >>> 0, 4);
  yield { atMs: lastMs, tokens: 0, bytes: Buffer.concat(first ? [HEAD, LAST_BLOCK, tail] : [LAST_BLOCK, tail]) };
}
