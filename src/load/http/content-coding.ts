import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";

/** Longest decoded body, bytes. A small coded body may decode to gigabytes. */
const MAX_DECODED_BYTES = 4 * 1024 * 1024;

const DECODERS: Readonly<Record<string, typeof gunzipSync>> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Decodes a complete body. @returns latin1 text, which keeps every byte; `undefined` if it cannot be decoded. */
export function decoded(pieces: readonly Buffer[], contentEncoding: string): string | undefined {
  let body: Buffer = Buffer.concat(pieces);
  try {
    for (const coding of contentEncoding.toLowerCase().split(",").reverse()) {
      const decode = DECODERS[coding.trim()];
      if (decode !== undefined) body = decode(body, { maxOutputLength: MAX_DECODED_BYTES });
      else if (coding.trim() !== "identity") return undefined;
    }
    return body.toString("latin1");
  } catch {
    // The body does not match its content coding. The caller reports that.
    return undefined;
  }
}
