import { crc32, deflateSync } from "node:zlib";
import { seededRandom } from "../../src/core/index.ts";
import type { Dialect } from "../../src/dialects/index.ts";

/** One grey pixel as PNG, base64. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

/** A part or block with an image, as the dialect has it. */
export function imagePart(dialect: Dialect, base64: string): Readonly<Record<string, unknown>> {
  return dialect === "chat"
    ? { type: "image_url", image_url: { url: `data:image/png;base64,${base64}` } }
    : { type: "image", source: { type: "base64", media_type: "image/png", data: base64 } };
}

const BYTES_PER_PIXEL = 3;
const PNG_SIGNATURE = "89504e470d0a1a0a";
/** Eight bits, colour, no interlace. */
const FORMAT = [8, 2, 0, 0, 0];

/**
 * A square of random colours as PNG, base64: it packs as badly as a photograph, so that its size is known.
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
  return Buffer.concat([
    Buffer.from(PNG_SIGNATURE, "hex"),
    chunk("IHDR", Buffer.concat([header, Buffer.from(FORMAT)])),
    chunk("IDAT", deflateSync(pixels)),
    chunk("IEND", Buffer.alloc(0)),
  ]).toString("base64");
}

function chunk(type: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
