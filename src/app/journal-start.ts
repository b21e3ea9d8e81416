import type { Redactor } from "../http-recorder/index.ts";
import type { RunFolder } from "../record/index.ts";
import { type RunStart, recordHead, targetQualifiers } from "./record-head.ts";

/** Begins the journal with all that a record of the run needs, should it never be written. */
export function journalStart(folder: RunFolder, start: RunStart, redactor: Redactor, more: object = {}): void {
  const { command, target, seed } = start;
  const line = { run: recordHead(start), qualifiers: targetQualifiers(target), ...more };
  folder.journal({ event: "started", command, target: target.name, seed, ...redactor.redactValue(line) });
}
