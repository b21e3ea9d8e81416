import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { isObject, member } from "../core/index.ts";

/** Read at once, bytes. */
const CHUNK = 1 << 20;
/** Longest line that is parsed, bytes: answers are bounded to 8 MiB, escaping doubles them at most a few times. */
const LONGEST_LINE = 64 << 20;

/**
 * Picks some exchanges out of a run folder. The file is read in pieces, because a run's exchanges may be larger than a
 * string can be; lines that nobody asked for are not parsed.
 *
 * @returns lines of `exchanges.ndjson` by exchange id; what was not kept is missing.
 */
export function readExchanges(folder: string, ids: ReadonlySet<string>): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const path = join(folder, "exchanges", "exchanges.ndjson");
  if (ids.size === 0 || !existsSync(path)) return found;
  const take = (line: Buffer) => {
    const id = idOf(line);
    if (id === undefined || !ids.has(id)) return;
    try {
      found.set(id, JSON.parse(line.toString("utf8")));
    } catch {
      // A line that a kill cut off in the middle: what it held is lost, the others stand.
    }
  };
  const file = openSync(path, "r");
  try {
    const chunk = Buffer.allocUnsafe(CHUNK);
    let parts: Buffer[] = [];
    let length = 0;
    for (;;) {
      const bytes = readSync(file, chunk, 0, CHUNK, null);
      if (bytes === 0) return found;
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0 && end < bytes; end = chunk.indexOf(10, from)) {
        const rest = chunk.subarray(from, end);
        if (length + rest.length <= LONGEST_LINE) take(Buffer.concat([...parts, rest]));
        parts = [];
        length = 0;
        from = end + 1;
      }
      length += bytes - from;
      if (length <= LONGEST_LINE) parts.push(Buffer.from(chunk.subarray(from, bytes)));
      else parts = [];
    }
  } finally {
    closeSync(file);
  }
}

/** The id stands near the start of the line, where the recorder writes it; other lines are parsed to find it. */
function idOf(line: Buffer): string | undefined {
  const quick = /"exchange":\{"id":"([^"\\]+)"/.exec(line.subarray(0, 2_000).toString("latin1"));
  if (quick !== null) return quick[1];
  try {
    const parsed: unknown = JSON.parse(line.toString("utf8"));
    const id = isObject(parsed) ? member(parsed["exchange"], "id") : undefined;
    return typeof id === "string" ? id : undefined;
  } catch {
    // Cut off: see above.
    return undefined;
  }
}
