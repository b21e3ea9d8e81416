import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { renderResultPage } from "../../../reports/index.ts";
import { escapedJson, fileProblem, StorageError, UsageError } from "../../core/index.ts";
import { writeAtomically } from "../../record/index.ts";
import type { Outcome } from "../control/index.ts";
import { type CommandResult, resultOfExitCode, resultText } from "./verdict-text.ts";

/** The result of a command without a record; its text names the report, if one was written. */
export interface Result extends CommandResult {
  readonly document: object;
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
  if (out === undefined) return outcomeOf;
  const hint = "Name another folder with --out.";
  try {
    mkdirSync(out, { recursive: true });
    accessSync(out, constants.W_OK);
  } catch (error) {
    throw new UsageError(`--out: ${out} cannot be written: ${fileProblem(error)}`, { hint, cause: error });
  }
  const taken = TAKEN.find((file) => existsSync(join(out, file)));
  if (taken !== undefined) throw new UsageError(`--out: ${out} already contains ${taken}`, { hint });
  return (result) => {
    const { exitCode, document, body, sentence, prediction } = result;
    const report = join(out, PAGE);
    try {
      writeAtomically(join(out, DOCUMENT), `${escapedJson(document)}\n`);
      const conclusion = prediction === undefined ? { result: resultOfExitCode(exitCode) } : { prediction };
      const endedAt = new Date().toISOString();
      writeAtomically(report, renderResultPage({ command, conclusion, sentence, endedAt, body }));
      return outcomeOf(result, report);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return { ...outcomeOf(result), ioError: error };
    }
  };
}

function outcomeOf(result: Result, report?: string): Outcome {
  const { exitCode, document } = result;
  return { exitCode, document, text: (colors) => resultText(result, colors, report) };
}
