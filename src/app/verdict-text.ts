import { describeExitCode, paintedHeadline } from "../../reports/index.ts";
import { EXIT } from "../core/index.ts";
import type { Colors } from "./outcome.ts";

interface Judged {
  readonly exitCode: number;
  /** What decided the verdict, without the verdict word. */
  readonly sentence: string;
}

/**
 * The text of a command that writes no record: the verdict first, as in a run, and the exit code last.
 *
 * @param body lines in between; each ends with a line feed.
 */
export function withVerdict(body: string, { exitCode, sentence }: Judged, colors: Colors): string {
  const result = exitCode === EXIT.pass ? "pass" : exitCode === EXIT.gateFailed ? "fail" : "inconclusive";
  const headline = `${result.toUpperCase()}: ${sentence}`;
  return `${paintedHeadline({ result, headline }, colors)}\n${body}${describeExitCode(exitCode)}\n`;
}
