import { mkdirSync } from "node:fs";
import { join } from "node:path";
import pc from "picocolors";
import { renderResultPage } from "../../reports/index.ts";
import { EXIT, escapedJson, fileProblem, UsageError } from "../core/index.ts";
import { writeAtomically } from "../record/index.ts";
import type { Outcome } from "./outcome.ts";

/** Writes what a command without a record prints: `result.json` and `report.html`. @param out folder; absent: nothing is written. */
export function writeResult(outcome: Outcome, command: string, out: string | undefined): Outcome {
  if (out === undefined) return outcome;
  const { exitCode, document = {}, text } = outcome;
  const result = exitCode === EXIT.pass ? "pass" : exitCode === EXIT.gateFailed ? "fail" : "inconclusive";
  try {
    mkdirSync(out, { recursive: true });
  } catch (error) {
    throw new UsageError(`--out: ${out} cannot be created: ${fileProblem(error)}`, { cause: error });
  }
  const path = join(out, "report.html");
  const endedAt = new Date().toISOString();
  writeAtomically(join(out, "result.json"), `${escapedJson(document)}\n`);
  writeAtomically(path, renderResultPage({ command, result, endedAt, text: text(pc.createColors(false)) }));
  // Next to the exit code, if that is the last line, as in a run.
  const end = (printed: string) =>
    /^exit code [^\n]*$/m.test(printed.trimEnd().split("\n").at(-1) ?? "") ? "; " : "\n";
  return {
    ...outcome,
    text: (colors) => {
      const printed = text(colors);
      return `${printed.trimEnd()}${end(printed)}report: ${path}\n`;
    },
  };
}
