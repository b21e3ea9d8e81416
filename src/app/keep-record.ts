import { StorageError } from "../core/index.ts";
import type { RunFolder, RunRecord } from "../record/index.ts";
import { writeReports } from "./write-reports.ts";

/** A run that has ended, as it is shown once its folder is written. */
export interface KeptRun {
  /** Its verdict says so if something could not be written. */
  readonly record: RunRecord;
  /** Whether everything was written. */
  readonly isKept: boolean;
  /** Why something could not be kept: the caller still prints what was found, and then throws it. */
  readonly ioError: StorageError | undefined;
}

/**
 * Writes record and reports of a run that has ended, and the last line of its journal. Only then is known which verdict the
 * command can print.
 *
 * @param before writes what the record refers to.
 */
export function keepRecord(folder: RunFolder, record: RunRecord, before: () => void = () => undefined): KeptRun {
  const ioError = writeRun(folder, record, before);
  if (ioError !== undefined) return { record: unkept(record, ioError), isKept: false, ioError };
  return { record, isKept: true, ioError };
}

/** A failure stays one, because what broke a requirement did so; nothing else can be relied on without its evidence. */
function unkept(record: RunRecord, { message, exit }: StorageError): RunRecord {
  const { verdict } = record;
  const { result, headline, reasons } = verdict;
  return {
    ...record,
    verdict: {
      ...verdict,
      exitCode: exit,
      ...(result === "pass" && {
        result: "inconclusive",
        headline: headline.replace(/^[A-Z]+(?=: )/, "INCONCLUSIVE").concat(", not written in full"),
      }),
      reasons: [{ text: message }, ...reasons.filter(({ text }) => text !== message)],
    },
  };
}

function writeRun(folder: RunFolder, record: RunRecord, before: () => void): StorageError | undefined {
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
