/** Longest piece, UTF-16 units: text without spaces (Chinese, long identifiers) is split into such pieces. */
const MAX_PIECE_CHARACTERS = 12;

const SPACE = 0x20;

/**
 * Splits text into the gateway's tokens: a word with the white space after it, at most twelve characters. The pieces join to
 * the original text. A surrogate pair is never split.
 */
export function splitPieces(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let sawSpace = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const space = unit <= SPACE;
    const wordBegins = sawSpace && !space;
    const full = at - start >= MAX_PIECE_CHARACTERS && !(unit >= 0xdc00 && unit <= 0xdfff);
    if (at > start && (wordBegins || full)) {
      pieces.push(text.slice(start, at));
      start = at;
      sawSpace = false;
    }
    if (space) sawSpace = true;
  }
  if (start < text.length) pieces.push(text.slice(start));
  return pieces;
}

/** Number of pieces that {@link splitPieces} would return, without creating them. */
export function countPieces(text: string): number {
  let count = 0;
  let start = 0;
  let sawSpace = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const space = unit <= SPACE;
    const full = at - start >= MAX_PIECE_CHARACTERS && !(unit >= 0xdc00 && unit <= 0xdfff);
    if (at > start && ((sawSpace && !space) || full)) {
      count += 1;
      start = at;
      sawSpace = false;
    }
    if (space) sawSpace = true;
  }
  return start < text.length ? count + 1 : count;
}
