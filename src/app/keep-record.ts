import { StorageError } from "../core/index.ts";
import type { RunFolder, RunRecord } from "../record/index.ts";
import { writeReports } from "./write-reports.ts";

/**
 * Writes record and reports of a run that has ended, and the last line of its journal.
 *
 * @param before writes what the record refers to.
 * @returns why something could not be kept: the caller still prints what was found, and then throws it.
 */
export function keepRecord(
  folder: RunFolder,
  record: RunRecord,
  before: () => void = () => undefined,
): StorageError | undefined {
  try {
    before();
    folder.record(record);
    writeReports(folder.path);
  } catch (error) {
    if (error instanceof StorageError) return folder.ioError ?? error;
    throw error;
  }
  folder.journal({ event: "finished", verdict: record.verdict.result, exitCode: record.verdict.exitCode });
  return folder.ioError;
}
