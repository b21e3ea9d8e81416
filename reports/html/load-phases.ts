import type { LoadClass, LoadPhase, LoadRun } from "../../src/record/index.ts";
import { oneLine } from "../clean-text.ts";
import type { PhaseSpan } from "./charts/phase-labels.tsx";

/** The phase whose figures represent a run: the one at the rate limit, otherwise the one that admitted most. */
export function headlinePhase({ phases }: LoadRun): LoadPhase | undefined {
  return phases.find(({ name }) => name === "at-rate-limit") ?? [...phases].sort((a, b) => b.admitted - a.admitted)[0];
}

/** Phases as drawings over time label them, and where they become steady after a warm-up. */
export function spansOf({ name, startS, durationS, steady }: LoadPhase): PhaseSpan[] {
  const phase = { name: oneLine(name, 32), startS, durationS };
  const { fromS, toS } = steady ?? { fromS: null, toS: null };
  if (fromS === null || toS === null || fromS === startS) return [phase];
  return [phase, { name: "steady", startS: fromS, durationS: toS - fromS }];
}

/** `chat streaming`. */
export function kindOf({ dialect, stream }: Pick<LoadClass, "dialect" | "stream">): string {
  return `${dialect} ${stream ? "streaming" : "non-streaming"}`;
}
