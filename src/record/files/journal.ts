import { join } from "node:path";
import { isObject } from "../../core/index.ts";
import { eachLine } from "./each-line.ts";

export const JOURNAL = "journal.ndjson.gz";

/** An event, as one line of the journal. */
export interface JournalEvent {
  readonly event: string;
  readonly [field: string]: unknown;
}

/** A stored line of the journal. */
export interface JournalLine extends JournalEvent {
  /** Wall clock, ISO 8601. */
  readonly at: string;
}

/**
 * Complete lines of a file of JSON lines, in order. Lines truncated by a kill or a full disk are skipped, the others are kept.
 */
export function readLines(path: string): unknown[] {
  const found: unknown[] = [];
  eachLine(path, (line) => {
    if (line.length === 0) return;
    try {
      found.push(JSON.parse(line.toString("utf8")));
    } catch {
      // Truncated: its content is lost.
    }
  });
  return found;
}

/** The events of a run; empty if the folder has no journal. */
export function readJournal(folder: string): JournalLine[] {
  return readLines(join(folder, JOURNAL)).filter(
    (line): line is JournalLine =>
      isObject(line) && typeof line["event"] === "string" && typeof line["at"] === "string",
  );
}
