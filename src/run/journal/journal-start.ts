import { GauntletError } from "../../core/index.ts";
import type { Redactor } from "../../http/recorder/index.ts";
import type { RunFolder } from "../../record/index.ts";
import { type RunStart, recordHead, targetQualifiers } from "./record-head.ts";

/** Starts the journal with everything that a record needs, in case the record is never written. */
export function journalStart(folder: RunFolder, start: RunStart, redactor: Redactor, more: object = {}): void {
  const { command, target, seed } = start;
  const line = { run: recordHead(start), qualifiers: targetQualifiers(target), ...more };
  folder.journal({ event: "started", command, target: target.name, seed, ...redactor.redactValue(line) });
}

/** Runs the step before the first check. If it throws, the journal says why nothing was judged. */
export async function journalFailure<T>(folder: RunFolder, redactor: Redactor, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof GauntletError) {
      const { message, hint, exit: exitCode } = error;
      folder.journal(redactor.redactValue({ event: "failed", message, hint, exitCode }));
    }
    throw error;
  }
}
