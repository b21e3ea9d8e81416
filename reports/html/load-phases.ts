import type { LoadPhase, LoadRun } from "../../src/record/index.ts";
import { oneLine } from "../clean-text.ts";
import type { PhaseSpan } from "./charts/phase-labels.tsx";

/** Phases and events of a run, as drawings over time mark them. */
export function spansOfRun({ phases, events = [] }: LoadRun): PhaseSpan[] {
  const marks = events.flatMap(({ name, atS, execution, undo }): PhaseSpan[] => [
    ...(execution === null ? [] : [{ name: `event ${oneLine(name, 24)}`, startS: execution.startedS, durationS: 0 }]),
    // At the end of the load it is not a mark within the drawing.
    ...(undo === undefined || execution === null || undo.startedS > endOf(phases)
      ? []
      : [{ name: `${oneLine(name, 24)} undone`, startS: Math.max(atS, undo.startedS), durationS: 0 }]),
  ]);
  return [...phases.flatMap(spansOf), ...marks];
}

const endOf = (phases: readonly LoadPhase[]) =>
  Math.max(0, ...phases.map(({ startS, durationS }) => startS + durationS));

/** Phases as drawings over time label them, and where they become steady after a warm-up. */
function spansOf({ name, startS, durationS, steady }: LoadPhase): PhaseSpan[] {
  const phase = { name: oneLine(name, 32), startS, durationS };
  const { fromS, toS } = steady ?? { fromS: null, toS: null };
  if (fromS === null || toS === null || fromS === startS) return [phase];
  return [phase, { name: "steady", startS: fromS, durationS: toS - fromS }];
}
