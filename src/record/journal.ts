import { join } from "node:path";
import { isObject } from "../core/index.ts";
import { eachLine } from "./each-line.ts";

export const JOURNAL = "journal.ndjson.gz";

/** Something that happened, as one line of the journal. */
export interface JournalEvent {
  readonly event: string;
  readonly [field: string]: unknown;
}

/** A line as it stands in the journal. */
export interface JournalLine extends JournalEvent {
  /** Wall clock, ISO 8601. */
  readonly at: string;
}

/** Whole lines of a file of JSON lines, in order. A line that a kill or a full disk cut off is left out, the others stand. */
export function readLines(path: string): unknown[] {
  const found: unknown[] = [];
  eachLine(path, (line) => {
    if (line.length === 0) return;
    try {
      found.push(JSON.parse(line.toString("utf8")));
    } catch {
      // Cut off: what it held is lost.
    }
  });
  return found;
}

/** What a run noted as it happened; empty when the folder has no journal. */
export function readJournal(folder: string): JournalLine[] {
  return readLines(join(folder, JOURNAL)).filter(
    (line): line is JournalLine =>
      isObject(line) && typeof line["event"] === "string" && typeof line["at"] === "string",
  );
}
