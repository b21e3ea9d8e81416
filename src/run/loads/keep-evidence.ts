import type { Redactor } from "../../http/recorder/index.ts";
import type { EventNotice, LoadProgress, LoadsContext, Sample, Workload } from "../../load/index.ts";
import type { RunFolder } from "../../record/index.ts";
import type { OnProgress } from "../control/index.ts";

export interface Evidence {
  readonly folder: RunFolder;
  readonly redactor: Redactor;
  readonly workloads: readonly Workload[];
  /** Samples are collected here for the checks. */
  readonly samples: Sample[];
  readonly onProgress: OnProgress;
}

/** How often the counters of a run are written to its journal, ms. */
const EVERY_MS = 1_000;
/** Progress that is this early counts as on time. */
const SLACK_MS = 100;

/**
 * Writes load data into the run's folder as it arises: counters every second, phases and samples when they are complete, so
 * that a killed run loses at most its last second.
 */
export function keepEvidence({
  folder,
  redactor,
  workloads,
  samples,
  onProgress,
}: Evidence): Pick<LoadsContext, "onSample" | "onPhase" | "onProgress" | "onStep" | "onNotice" | "onEvent"> {
  const runs = workloads.map(({ name, tier, engine, written }) => ({
    name,
    kind: tier === undefined ? "workload" : "tier",
    engine,
    workload: written,
  }));
  folder.journal({ event: "load-started", runs: redactor.redactValue(runs) });
  const notedMs = new Map<string, number>();
  return {
    onProgress: (progress) => {
      onProgress({ kind: "load", progress });
      const nowMs = performance.now();
      if (nowMs - (notedMs.get(progress.run) ?? Number.NEGATIVE_INFINITY) < EVERY_MS - SLACK_MS) return;
      notedMs.set(progress.run, nowMs);
      folder.journal({ event: "load-progress", ...noted(progress) });
    },
    onStep: (text) => onProgress({ kind: "step", text }),
    onNotice: (text) => onProgress({ kind: "notice", text }),
    onEvent: (notice) => {
      // Before anything else: a killed run must show what may not have been undone.
      const { event: name, ...noticed } = notice;
      folder.journal({ event: "load-event", name, ...redactor.redactValue(noticed) });
      onProgress({ kind: "notice", text: eventText(notice) });
    },
    onSample: (sample) => {
      samples.push(sample);
      folder.exchange({ requested: sample.requested, exchange: sample.exchange, phase: sample.phase });
    },
    onPhase: (run, phase) =>
      folder.journal(
        redactor.redactValue({
          event: "phase-finished",
          run,
          phase: phase.name,
          verdict: phase.verdict,
          record: phase,
        }),
      ),
  };
}

/** `event restart: run ./restart.sh`, and at its end its result. */
function eventText({ event, does, action, atS, execution }: EventNotice): string {
  const what = does === "undo" ? `undo of event ${event}` : `event ${event}`;
  const at = `at ${atS.toFixed(1)} s`;
  return execution === undefined
    ? `${what} ${at}: ${action}`
    : `${what} ${execution.succeeded ? "done" : "FAILED"} ${at}: ${execution.result}`;
}

function noted({ run, phase, elapsedS, inFlight, counts, denied, failed, responseByModeMs }: LoadProgress): object {
  return { run, phase, elapsedS, inFlight, counts: counts ?? { denied, failed }, responseByModeMs };
}
