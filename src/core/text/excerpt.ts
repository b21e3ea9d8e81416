/**
 * A text, or its beginning, as a separate string. V8 represents a slice as a reference to the whole text, so a short excerpt of
 * a long response would keep all of it in memory.
 */
export function excerptOf(text: string, maxCharacters = text.length): string {
  return Buffer.from(text.slice(0, maxCharacters), "utf16le").toString("utf16le");
}
