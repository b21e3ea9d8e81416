import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { decodeBody } from "../../../src/http/recorder/decode-body.ts";

const TEXT = "hello ".repeat(200);
const GARBAGE = Buffer.from("\r\n0\r\n\r\n");
const CODINGS = [
  ["br", brotliCompressSync],
  ["gzip", gzipSync],
  ["deflate", deflateSync],
] as const;

const lengthOf = (pieces: readonly { readonly bytes: Uint8Array }[]) =>
  pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);

describe.each(CODINGS)("%s", (coding, compress) => {
  const bytes = compress(Buffer.from(TEXT));

  it("ends when bytes follow the compressed data", { timeout: 20_000 }, async () => {
    const pieces = [bytes, GARBAGE].map((piece, index) => ({ atUs: index, bytes: piece }));
    const { error, pieces: decoded } = await decodeBody(pieces, coding, 1_000_000, true);
    if (error === undefined) expect(lengthOf(decoded)).toBe(TEXT.length);
    else expect(lengthOf(decoded)).toBe(bytes.length + GARBAGE.length);
  });

  it("tells a body that stops early from one whose connection was cut", async () => {
    const cut = [{ atUs: 1, bytes: bytes.subarray(0, bytes.length - 3) }];
    expect((await decodeBody(cut, coding, 1_000_000, true)).error).toMatch(coding);
    expect((await decodeBody(cut, coding, 1_000_000, false)).error).toBeUndefined();
  });
});
