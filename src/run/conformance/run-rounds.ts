import { type ConcurrentLoad, freeze, type Instance, runChecks, type Traffic } from "../../checks/index.ts";
import type { CheckResult, RunFolder } from "../../record/index.ts";
import type { RunControl } from "../control/index.ts";
import type { CheckProgress } from "./check-progress.ts";

/** How long after a signal invariants are still judged, ms: record and reports have to be written, too. */
const JUDGED_MS = 1_000;

interface Rounds {
  readonly instances: readonly Instance[];
  readonly rounds: number;
  readonly traffic: Traffic;
  readonly folder: RunFolder;
  readonly control: RunControl;
  readonly progress: CheckProgress;
  readonly startLoad: () => Promise<ConcurrentLoad | undefined> | undefined;
}

/** Runs every check as often as requested, and writes each result into the folder. */
export async function runRounds({ instances, rounds, traffic, folder, control, progress, startLoad }: Rounds) {
  const { redactor } = traffic.recorder;
  const runs: CheckResult[][] = [];
  const probed = new Set<Instance>();
  for (let round = 0; round < rounds && !control.interruption.signal.aborted; round++) {
    if (round > 0) traffic.nextRound();
    if (round > 0) progress.nextRound();
    const results = await runChecks({
      instances,
      traffic,
      rounds: rounds - round,
      startLoad: round === 0 ? startLoad : undefined,
      isLate: () => control.interruption.sinceMs() > JUDGED_MS,
      onStart: (instance) => {
        folder.journal({ event: "check-started", check: instance.id, round });
        progress.started(instance);
      },
      onRecording: (instance, recording) => {
        probed.add(instance);
        folder.recording(instance.id, freeze(recording), round);
      },
      onResult: (result) => {
        const { id, status } = result;
        folder.journal(redactor.redactValue({ event: "check-finished", check: id, round, status, result }));
        progress.finished(result);
      },
    });
    runs.push(results);
  }
  return { runs, probed };
}
