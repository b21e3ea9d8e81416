import { eachMember, MAX_LINE_BYTES } from "./gzip-members.ts";

const NEW_LINE = 10;

/**
 * Reads a file of lines that was compressed as it was written, a mebibyte at a time, because the whole may be larger than the
 * memory. An unterminated last line is passed on as well; one that exceeds all limits is skipped. A missing file has no lines.
 *
 * @param take gets a view of the bytes that is not valid after it returns.
 */
export function eachLine(path: string, take: (line: Buffer) => void): void {
  eachMember(path, (lines) => {
    for (let from = 0; from < lines.length; ) {
      const end = lines.indexOf(NEW_LINE, from);
      const line = lines.subarray(from, end === -1 ? lines.length : end);
      if (line.length <= MAX_LINE_BYTES) take(line);
      from += line.length + 1;
    }
  });
}
