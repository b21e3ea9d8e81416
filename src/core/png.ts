import { crc32 } from "node:zlib";

export const PNG_SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");

/** A PNG with these chunks; the end chunk is added. */
export function pngOf(chunks: readonly (readonly [type: string, data: Uint8Array])[]): Buffer {
  return Buffer.concat([PNG_SIGNATURE, ...chunks.map(chunk), chunk(["IEND", Buffer.alloc(0)])]);
}

function chunk([type, data]: readonly [type: string, data: Uint8Array]): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
