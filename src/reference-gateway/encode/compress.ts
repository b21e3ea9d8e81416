import { brotliCompressSync, constants, gzipSync } from "node:zlib";

export type Coding = "br" | "gzip";

export interface CompressedBytes {
  readonly bytes: Buffer;
  /** Value of `Content-Encoding`; absent if the bytes are not compressed. */
  readonly coding?: string | undefined;
}

/** Favours speed over size: bodies are short, and the gateway must keep up with a load test. */
const BROTLI_QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } };

/**
 * Compresses a non-streaming body if the client accepts a supported coding.
 *
 * @param accepted value of `Accept-Encoding`.
 */
export function compress(bytes: Buffer, accepted: string | string[] | undefined): CompressedBytes {
  const coding = typeof accepted === "string" ? preferredCoding(accepted) : undefined;
  return coding === undefined ? { bytes } : { bytes: encodeAs(coding, bytes), coding };
}

export function encodeAs(coding: Coding, bytes: Buffer): Buffer {
  return coding === "br" ? brotliCompressSync(bytes, BROTLI_QUALITY) : gzipSync(bytes, { level: 1 });
}

/** @returns the coding with the highest weight; brotli on a tie (RFC 9110, 12.5.3). */
export function preferredCoding(accepted: string): Coding | undefined {
  const weights = new Map<string, number>();
  for (const item of accepted.split(",")) {
    const [name = "", ...parameters] = item.split(";");
    const weight = parameters.map((parameter) => /^\s*q=([0-9.]+)\s*$/i.exec(parameter)?.[1]).find(Boolean);
    weights.set(name.trim().toLowerCase(), weight === undefined ? 1 : Number(weight));
  }
  const any = weights.get("*") ?? 0;
  const brotli = weights.get("br") ?? any;
  const gzip = weights.get("gzip") ?? weights.get("x-gzip") ?? any;
  // A client that prefers uncompressed bytes gets them.
  const identity = weights.get("identity") ?? 0;
  const best = Math.max(brotli, gzip);
  if (!(best > 0) || identity > best) return undefined;
  return brotli >= gzip ? "br" : "gzip";
}
