import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Layout, type ReportSource, readEvidence, renderHtml, wantedExchanges } from "../../reports/index.ts";
import { type RunRecord, readExchanges, readRecord, writeAtomically } from "../record/index.ts";

/** A run as reports see it: its record, and the exchanges that they want to show. */
export function openSource(folder: string, record: RunRecord = readRecord(folder)): ReportSource {
  const lines = readExchanges(folder, wantedExchanges(record));
  return { record, evidence: (id) => readEvidence(lines.get(id)) };
}

/**
 * Renders a run folder's reports into it, from what stands on the disk: rendering again later gives the same bytes.
 *
 * @returns paths of the files, relative to the folder.
 */
export function writeReports(folder: string, layout: Layout = "single"): string[] {
  const source = openSource(folder);
  const files = [
    ...[...renderHtml(source, layout)].map(([name, text]) => [layout === "folder" ? join("report", name) : name, text]),
  ] as [string, string][];
  for (const [name, text] of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeAtomically(path, text);
  }
  return files.map(([name]) => name);
}
