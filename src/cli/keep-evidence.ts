import type { Sample } from "../load/index.ts";
import type { RunFolder } from "../record/index.ts";
import type { LoadsContext } from "./run-loads.ts";

/** Writes what a load shows into the run's folder as it happens, and collects the samples for the judges. */
export function keepEvidence(folder: RunFolder, samples: Sample[]): Pick<LoadsContext, "onSample" | "onPhase"> {
  return {
    onSample: (sample) => {
      samples.push(sample);
      folder.exchange({ asked: sample.asked, exchange: sample.exchange, phase: sample.phase });
    },
    onPhase: (run, { name, verdict, message }) =>
      folder.journal({ event: "phase-finished", run, phase: name, verdict, message }),
  };
}
