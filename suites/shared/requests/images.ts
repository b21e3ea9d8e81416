import { deflateSync } from "node:zlib";
import { pngOf, seededRandom } from "../../../src/core/index.ts";

/** One grey pixel as PNG, base64. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

const BYTES_PER_PIXEL = 3;
/** Eight bits, colour, no interlace. */
const FORMAT = [8, 2, 0, 0, 0];

/**
 * A square of random colours as PNG, base64: it compresses as poorly as a photograph, so that its size is known.
 *
 * @param side pixels; 64 is about 12 kB, 256 about 197 kB.
 */
export function noise(side: number): string {
  const random = seededRandom(side);
  const row = 1 + side * BYTES_PER_PIXEL;
  // Each row begins with its filter: none.
  const pixels = Uint8Array.from({ length: row * side }, (_, at) => (at % row === 0 ? 0 : Math.floor(random() * 256)));
  const header = Buffer.alloc(8);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  return pngOf([
    ["IHDR", Buffer.concat([header, Buffer.from(FORMAT)])],
    ["IDAT", deflateSync(pixels)],
  ]).toString("base64");
}
