import { describeExitCode, paintedHeadline } from "../../reports/index.ts";
import { EXIT } from "../core/index.ts";
import type { Colors } from "./outcome.ts";

interface Judged {
  readonly exitCode: number;
  /** What decided the verdict, without the verdict word. */
  readonly sentence: string;
}

/**
 * The text of a command that writes no record: the verdict and the exit code last, as in a run.
 *
 * @param body what is above them; each line ends with a line feed.
 */
export function withVerdict(body: string, { exitCode, sentence }: Judged, colors: Colors): string {
  const result = exitCode === EXIT.pass ? "pass" : exitCode === EXIT.gateFailed ? "fail" : "inconclusive";
  const headline = `${result.toUpperCase()}: ${sentence}`;
  const [first = "", ...more] = headline.split("\n");
  const verdict = [paintedHeadline({ result, headline: first }, colors), ...more].join("\n");
  return `${body}${verdict}\n${describeExitCode(exitCode)}\n`;
}
