import { join } from "node:path";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { isObject, member } from "../../core/index.ts";
import { eachLine } from "./each-line.ts";

/** Every exchange of a run, within its folder. */
export const EXCHANGES: string = join("exchanges", "exchanges.ndjson.gz");

/**
 * Picks some exchanges out of a run folder. Other lines are not parsed: a run's exchanges may be larger than the memory. The
 * picked ones stay compressed until they are read: a head may have thousands of fields.
 *
 * @returns a function that parses the line of an exchange; `undefined` for one that was not kept.
 */
export function readExchanges(folder: string, ids: ReadonlySet<string>): (id: string) => unknown {
  const found = new Map<string, Buffer>();
  if (ids.size > 0)
    eachLine(join(folder, EXCHANGES), (line) => {
      const id = idOf(line);
      if (id !== undefined && ids.has(id)) found.set(id, deflateRawSync(line, { level: 1 }));
    });
  return (id) => {
    const line = found.get(id);
    try {
      return line === undefined ? undefined : JSON.parse(inflateRawSync(line).toString("utf8"));
    } catch {
      // Truncated by a kill: the content of this line is lost, the others are intact.
      return undefined;
    }
  };
}

/** How many exchanges a run kept. */
export function countExchanges(folder: string): number {
  let count = 0;
  eachLine(join(folder, EXCHANGES), (line) => {
    if (line.length > 0) count++;
  });
  return count;
}

/** The id is near the start of the line, where the recorder writes it; other lines are parsed to find it. */
function idOf(line: Buffer): string | undefined {
  const quick = /"exchange":\{"id":"([^"\\]+)"/.exec(line.subarray(0, 2_000).toString("latin1"));
  if (quick !== null) return quick[1];
  try {
    const parsed: unknown = JSON.parse(line.toString("utf8"));
    const id = isObject(parsed) ? member(parsed["exchange"], "id") : undefined;
    return typeof id === "string" ? id : undefined;
  } catch {
    // Truncated: see above.
    return undefined;
  }
}
