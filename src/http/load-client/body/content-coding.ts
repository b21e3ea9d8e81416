import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";

/** Maximum length of a body that is checked, bytes, also after decoding: a small coded body may decode to gigabytes. */
export const MAX_CHECKED_BYTES = 4 * 1024 * 1024;

const DECODERS: Readonly<Record<string, typeof gunzipSync>> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** A decoded body as latin1 text, which preserves every byte; or why there is none. */
export type DecodedText = { readonly text: string } | "invalid" | "too large";

/**
 * Decodes a complete body. Unlike `decodeBody` of the recorder it is synchronous, because the outcome of a request must be known when it ends.
 */
export function decodedText(coded: Buffer, contentEncoding: string): DecodedText {
  let body = coded;
  try {
    for (const coding of contentEncoding.toLowerCase().split(",").reverse()) {
      const decode = DECODERS[coding.trim()];
      if (decode !== undefined) body = decode(body, { maxOutputLength: MAX_CHECKED_BYTES });
      else if (coding.trim() !== "identity") return "invalid";
    }
    return { text: body.toString("latin1") };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? "too large" : "invalid";
  }
}
