import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  DEFAULT_FORMATS,
  FORMATS,
  type Format,
  type Layout,
  type ReportSource,
  readEvidence,
  readHistogramLog,
  shownExchanges,
} from "../../../reports/index.ts";
import { type RunRecord, readExchanges, writeAtomically } from "../../record/index.ts";
import { readOrRecover } from "./recover-record.ts";

/** The input of the reports: a record, and the exchanges that they show. */
export function openSource(folder: string): ReportSource {
  const record = readOrRecover(folder);
  const logs = new Map<string, ReturnType<typeof readHistogramLog>>();
  const histograms = (hlog: string) => {
    // A record may only name files in its own folder.
    const path = join(folder, basename(hlog));
    const known = logs.get(path) ?? readHistogramLog(existsSync(path) ? readFileSync(path, "utf8") : "");
    logs.set(path, known);
    return known;
  };
  return { record, evidence: evidenceOf(folder, record), histograms };
}

/** Finds the exchanges that a report of the record shows, as recorded. */
export function evidenceOf(folder: string, record: RunRecord): ReportSource["evidence"] {
  const lineOf = readExchanges(folder, shownExchanges(record));
  return (id) => readEvidence(lineOf(id));
}

interface ReportOptions {
  readonly formats?: readonly Format[];
  readonly layout?: Layout;
}

/**
 * Renders a run folder's reports from the files on disk: rendering again later gives the same bytes.
 *
 * @returns paths of the files.
 */
export function writeReports(
  folder: string,
  { formats = DEFAULT_FORMATS, layout = "single" }: ReportOptions = {},
  source = openSource(folder),
): string[] {
  return formats.flatMap((format) => writeReport(folder, format, source, layout));
}

/** Renders one report into the folder. */
export function writeReport(folder: string, format: Format, source: ReportSource, layout: Layout = "single"): string[] {
  return [...FORMATS[format](source, layout)].map(([name, text]) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeAtomically(path, text);
    return path;
  });
}
