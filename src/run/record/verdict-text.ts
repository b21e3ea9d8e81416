import { describeExitCode, paintedHeadline } from "../../../reports/index.ts";
import { EXIT } from "../../core/index.ts";
import type { Colors } from "../control/index.ts";

/** What a command without a record found. Everything in it must already be redacted. */
export interface CommandResult {
  readonly exitCode: number;
  /** What is above the conclusion; each line ends with a line feed. */
  readonly body: string;
  /** What decided the verdict, without the verdict word. Further lines, indented, say more. For a prediction, every line is indented. */
  readonly sentence: string;
  /** A prediction has no verdict; this is its conclusion: `smallest tier: scale`. */
  readonly prediction?: string | undefined;
}

/** The result of a command that writes no record. */
export function resultOfExitCode(exitCode: number): "pass" | "fail" | "inconclusive" {
  return exitCode === EXIT.pass ? "pass" : exitCode === EXIT.gateFailed ? "fail" : "inconclusive";
}

/**
 * The text of a command that writes no record: the verdict and the exit code last, as in a run.
 *
 * @param report its path, if one was written.
 */
export function resultText(found: CommandResult, colors: Colors, report?: string): string {
  const { exitCode, body, sentence, prediction } = found;
  if (prediction !== undefined) {
    const lines = [prediction, ...sentence.split("\n").flatMap((line) => (line === "" ? [] : [`  ${line}`]))];
    return `${body}${lines.join("\n")}\n${report === undefined ? "" : `report: ${report}\n`}`;
  }
  const result = resultOfExitCode(exitCode);
  const headline = `${result.toUpperCase()}: ${sentence}`;
  const [first = "", ...more] = headline.split("\n");
  const verdict = [paintedHeadline({ result, headline: first }, colors), ...more].join("\n");
  const named = report === undefined ? "" : `; report: ${report}`;
  return `${body}${verdict}\n${describeExitCode(exitCode)}${named}\n`;
}
