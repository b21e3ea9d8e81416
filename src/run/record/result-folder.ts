import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import pc from "picocolors";
import { renderResultPage } from "../../../reports/index.ts";
import { escapedJson, fileProblem, StorageError, UsageError } from "../../core/index.ts";
import { writeAtomically } from "../../record/index.ts";
import type { Colors, Outcome } from "../control/index.ts";
import { resultOfExitCode } from "./verdict-text.ts";

/** The outcome of a command without a record; its text names the report, if one was written. */
export interface Result extends Outcome {
  readonly document: object;
  /** @param report path of the report, for the last lines. */
  readonly text: (colors: Colors, report?: string) => string;
}

const PAGE = "report.html";
const DOCUMENT = "result.json";
/** Files of a run or of another result. */
const TAKEN = ["run.json", "journal.ndjson.gz", PAGE, DOCUMENT];

/**
 * Opens the folder in which a command without a record keeps what it prints.
 *
 * @param out folder; `undefined`: nothing is written.
 * @returns a function that writes `result.json` and `report.html`. If they cannot be written, the outcome says so and is printed
 * nevertheless. Everything in it must already be redacted.
 * @throws UsageError if the folder cannot be created or written, or already holds a run or a result. Call it before the first
 * request.
 */
export function openResultFolder(out: string | undefined, command: string): (result: Result) => Outcome {
  if (out === undefined) return (result) => result;
  const hint = "Name another folder with --out.";
  try {
    mkdirSync(out, { recursive: true });
    accessSync(out, constants.W_OK);
  } catch (error) {
    throw new UsageError(`--out: ${out} cannot be written: ${fileProblem(error)}`, { hint, cause: error });
  }
  const taken = TAKEN.find((file) => existsSync(join(out, file)));
  if (taken !== undefined) throw new UsageError(`--out: ${out} already contains ${taken}`, { hint });
  return ({ text, ...outcome }) => {
    const report = join(out, PAGE);
    try {
      writeAtomically(join(out, DOCUMENT), `${escapedJson(outcome.document)}\n`);
      const page = {
        command,
        result: resultOfExitCode(outcome.exitCode),
        endedAt: new Date().toISOString(),
        text: text(pc.createColors(false)),
      };
      writeAtomically(report, renderResultPage(page));
      return { ...outcome, text: (colors) => text(colors, report) };
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return { ...outcome, text: (colors) => text(colors), ioError: error };
    }
  };
}
