import type { LoadPhase } from "../../src/record/index.ts";
import { oneLine } from "../clean-text.ts";
import type { PhaseSpan } from "./charts/phase-labels.tsx";

/** Phases as drawings over time label them, and where they become steady after a warm-up. */
export function spansOf({ name, startS, durationS, steady }: LoadPhase): PhaseSpan[] {
  const phase = { name: oneLine(name, 32), startS, durationS };
  const { fromS, toS } = steady ?? { fromS: null, toS: null };
  if (fromS === null || toS === null || fromS === startS) return [phase];
  return [phase, { name: "steady", startS: fromS, durationS: toS - fromS }];
}
