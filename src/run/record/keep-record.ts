import { setImmediate as nextTurn } from "node:timers/promises";
import { DEFAULT_FORMATS, FORMATS, type ReportSource } from "../../../reports/index.ts";
import { appendJobSummary, isGithubJob, StorageError } from "../../core/index.ts";
import type { RunFolder, RunRecord } from "../../record/index.ts";
import type { Interruption } from "../control/index.ts";
import { openSource, writeReport } from "./write-reports.ts";

/** A finished run, for display once its folder is written. */
export interface KeptRun {
  /** Its verdict says whether something could not be written. */
  readonly record: RunRecord;
  /** Whether everything was written. */
  readonly isKept: boolean;
  /** Why something could not be written: the caller still prints the results and then throws it. */
  readonly ioError: StorageError | undefined;
}

interface Keeping {
  /** Present if the run can be interrupted. */
  readonly interruption?: Interruption | undefined;
  /** Writes the files that the record refers to. */
  readonly before?: () => void;
}

/**
 * Writes record and reports of a finished run, and the last line of its journal. The verdict that the command prints is only
 * known after that. An interrupted run that is short of time skips reports: `gauntlet report` renders them from the record.
 */
export async function keepRecord(folder: RunFolder, record: RunRecord, keeping: Keeping): Promise<KeptRun> {
  try {
    keeping.before?.();
    folder.record(record);
    const isKept = await writeInTime(folder.path, keeping.interruption);
    folder.journal({ event: "finished", verdict: record.verdict.result, exitCode: record.verdict.exitCode });
    if (folder.ioError === undefined) return { record, isKept, ioError: undefined };
    return { record: withStorageError(record, folder.ioError), isKept: false, ioError: folder.ioError };
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    const ioError = folder.ioError ?? error;
    return { record: withStorageError(record, ioError), isKept: false, ioError };
  }
}

/** How long after a signal reports are still rendered, ms. */
const RENDERED_MS = 1_600;

/**
 * Renders from the files on disk, so that rendering again later gives the same bytes.
 *
 * @returns whether all reports were written.
 */
async function writeInTime(path: string, interruption: Interruption | undefined): Promise<boolean> {
  const isLate = () => (interruption?.sinceMs() ?? 0) > RENDERED_MS;
  if (isLate()) return false;
  const source = openSource(path);
  for (const format of DEFAULT_FORMATS) {
    // Handle signals between reports.
    await nextTurn();
    if (isLate()) return false;
    writeReport(path, format, source);
  }
  reportToCi(source);
  return true;
}

/** A failure stays a failure, because a requirement was violated; nothing else can be trusted without its evidence. */
function withStorageError(record: RunRecord, { message, exit }: StorageError): RunRecord {
  const { verdict } = record;
  const { result, headline, reasons } = verdict;
  return {
    ...record,
    verdict: {
      ...verdict,
      exitCode: exit,
      ...(result === "pass" && {
        result: "inconclusive",
        headline: headline.replace(/^[A-Z]+(?=: )/, "INCONCLUSIVE").concat(", but the run folder is incomplete"),
      }),
      reasons: [{ kind: "run", text: message }, ...reasons.filter(({ text }) => text !== message)],
    },
  };
}

/**
 * In a job of GitHub Actions: adds the summary of a run to the job summary, and annotates its causes. Annotations go to stderr, so
 * that stdout is the same as everywhere else. GitLab and Jenkins read `junit.xml` from the run folder.
 */
function reportToCi(source: ReportSource): void {
  if (!isGithubJob()) return;
  const textOf = (format: "markdown" | "annotations") => [...FORMATS[format](source, "single").values()].join("");
  appendJobSummary(textOf("markdown"));
  process.stderr.write(textOf("annotations"));
}
