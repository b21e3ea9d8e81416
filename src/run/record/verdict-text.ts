import { describeExitCode, paintedHeadline } from "../../../reports/index.ts";
import { EXIT } from "../../core/index.ts";
import type { Colors } from "../control/index.ts";

interface Judged {
  readonly exitCode: number;
  /** What decided the verdict, without the verdict word. */
  readonly sentence: string;
  /** Path of the report, if one was written. */
  readonly report: string | undefined;
}

/** The result of a command that writes no record. */
export function resultOfExitCode(exitCode: number): "pass" | "fail" | "inconclusive" {
  return exitCode === EXIT.pass ? "pass" : exitCode === EXIT.gateFailed ? "fail" : "inconclusive";
}

/**
 * The text of a command that writes no record: the verdict and the exit code last, as in a run.
 *
 * @param body what is above them; each line ends with a line feed.
 */
export function withVerdict(body: string, { exitCode, sentence, report }: Judged, colors: Colors): string {
  const result = resultOfExitCode(exitCode);
  const headline = `${result.toUpperCase()}: ${sentence}`;
  const [first = "", ...more] = headline.split("\n");
  const verdict = [paintedHeadline({ result, headline: first }, colors), ...more].join("\n");
  const named = report === undefined ? "" : `; report: ${report}`;
  return `${body}${verdict}\n${describeExitCode(exitCode)}${named}\n`;
}
