import { closeSync, existsSync, openSync, readSync } from "node:fs";

/** Read at once, bytes. */
const CHUNK = 1 << 20;
/** Longest line that is read, bytes: answers are bounded to 8 MiB, escaping makes six of one at most. */
const LONGEST_LINE = 64 << 20;

/**
 * Reads a file of lines in pieces, because one may be larger than a string can be. A last line without its end is handed
 * on as well; one beyond all bounds is passed over. A file that is not there has no lines.
 *
 * @param take gets a view of the bytes that is not valid after it returns.
 */
export function eachLine(path: string, take: (line: Buffer) => void): void {
  if (!existsSync(path)) return;
  const file = openSync(path, "r");
  try {
    const chunk = Buffer.allocUnsafe(CHUNK);
    let parts: Buffer[] = [];
    let length = 0;
    const finish = (rest: Buffer) => {
      if (length + rest.length <= LONGEST_LINE) take(parts.length === 0 ? rest : Buffer.concat([...parts, rest]));
      parts = [];
      length = 0;
    };
    for (;;) {
      const bytes = readSync(file, chunk, 0, CHUNK, null);
      if (bytes === 0) break;
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0 && end < bytes; end = chunk.indexOf(10, from)) {
        finish(chunk.subarray(from, end));
        from = end + 1;
      }
      length += bytes - from;
      if (length <= LONGEST_LINE) parts.push(Buffer.from(chunk.subarray(from, bytes)));
      else parts = [];
    }
    if (length > 0 && length <= LONGEST_LINE) take(Buffer.concat(parts));
  } finally {
    closeSync(file);
  }
}
