import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  DEFAULT_FORMATS,
  FORMATS,
  type Format,
  type Layout,
  type ReportSource,
  readEvidence,
  wantedExchanges,
} from "../../reports/index.ts";
import { readExchanges, readRecord, writeAtomically } from "../record/index.ts";

/** A run as reports see it: its record, and the exchanges that they want to show. */
export function openSource(folder: string): ReportSource {
  const record = readRecord(folder);
  const lines = readExchanges(folder, wantedExchanges(record));
  return { record, evidence: (id) => readEvidence(lines.get(id)) };
}

interface Wanted {
  readonly formats?: readonly Format[];
  readonly layout?: Layout;
}

/**
 * Renders a run folder's reports into it, from what stands on the disk: rendering again later gives the same bytes.
 *
 * @returns paths of the files.
 */
export function writeReports(folder: string, { formats = DEFAULT_FORMATS, layout = "single" }: Wanted = {}): string[] {
  const source = openSource(folder);
  return formats.flatMap((format) =>
    [...FORMATS[format](source, layout)].map(([name, text]) => {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeAtomically(path, text);
      return path;
    }),
  );
}
