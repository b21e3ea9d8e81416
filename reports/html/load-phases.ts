import type { LoadClass, LoadPhase, LoadRun } from "../../src/record/index.ts";
import { oneLine } from "../clean-text.ts";
import type { PhaseSpan } from "./charts/phase-labels.tsx";

/** The phase whose figures stand for a run: the one at the rate limit, else the one that admitted most. */
export function headlinePhase({ phases }: LoadRun): LoadPhase | undefined {
  return phases.find(({ name }) => name === "at-rate-limit") ?? [...phases].sort((a, b) => b.admitted - a.admitted)[0];
}

/** A phase as drawings over time name it. */
export function spanOf({ name, startS, durationS }: LoadPhase): PhaseSpan {
  return { name: oneLine(name, 32), startS, durationS };
}

/** `chat streaming`. */
export function kindOf({ dialect, stream }: Pick<LoadClass, "dialect" | "stream">): string {
  return `${dialect} ${stream ? "streaming" : "non-streaming"}`;
}
