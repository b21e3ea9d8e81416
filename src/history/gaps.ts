import { type Measured, whyMissing } from "./measured.ts";

/** A run of a group without a value of a metric. */
export interface Gap {
  readonly runId: string;
  readonly startedAt: string;
  readonly why: string;
  /** Whether the run has no value of any metric: it was cut short, or its load generator was late. */
  readonly isWholeRun: boolean;
}

/** What a run of a group has. */
type Entry = Pick<Gap, "runId" | "startedAt"> & Pick<Measured, "problem" | "figures">;

/** The runs without a value of a metric. @param entries the runs of a group, oldest first. */
export function gapsOf(metric: string, entries: readonly Entry[]): Gap[] {
  return entries
    .filter(({ figures }) => figures[metric] === undefined)
    .map(({ runId, startedAt, problem, figures }) => {
      return { runId, startedAt, why: problem ?? whyMissing(metric, figures), isWholeRun: problem !== null };
    });
}
