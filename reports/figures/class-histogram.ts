import type { Histogram, LatencyFigure } from "../../src/metrics/index.ts";
import type { LoadClass, LoadPhase, LoadRun } from "../../src/record/index.ts";
import type { ReportSource } from "../evidence/source.ts";

/** One figure of one class of requests. */
export interface ClassFigure {
  readonly run: LoadRun;
  readonly phase: LoadPhase;
  readonly entry: LoadClass;
  readonly figure: LatencyFigure;
}

/** How the histogram log names a phase. */
export const phaseTag = (run: LoadRun, phase: LoadPhase): string =>
  phase.name === run.name ? run.name : `${run.name}.${phase.name}`;

/** The full histogram of a figure, microseconds; `undefined` if the histogram log is missing or has none. */
export function classHistogram(
  source: ReportSource,
  { run, phase, entry, figure }: ClassFigure,
): Histogram | undefined {
  const mode = entry.stream ? "streaming" : "non-streaming";
  const tag = `${phaseTag(run, phase)}.${entry.dialect}.${mode}.${entry.outcome}.${figure}`;
  return run.hlog === undefined ? undefined : source.histograms?.(run.hlog).get(tag);
}
