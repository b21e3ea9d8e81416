import { wilson } from "../../../core/index.ts";
import type { JudgedPhase } from "../../../record/index.ts";
import type { Clause } from "./objective.ts";

type Ends = readonly [low: number, high: number] | null;

/** The figure behind one clause of an objective, as measured at one level of load. */
export interface ObjectiveFigure {
  readonly clause: string;
  /** `null`: not judged, because replies were unusable or the generator was late. */
  readonly met: boolean | null;
  /** Milliseconds, or a share; `null`: not measured. */
  readonly value: number | null;
  /** 95 %; `null`: the samples do not support it. */
  readonly interval: Ends;
}

/** A level of load and the objective's figures at it. */
export interface FrontierPoint {
  /** Requests per second, or streams. */
  readonly level: number;
  readonly durationS: number;
  readonly met: boolean;
  readonly admittedPerS: number;
  readonly admittedPerSInterval: Ends;
  readonly figures: readonly ObjectiveFigure[];
  /** Why replies at this level count as unusable, which misses every objective. */
  readonly unusable?: string;
}

type Level = Pick<FrontierPoint, "level" | "met" | "unusable">;

/** The figures of an objective in a phase. Of several classes, the one with the highest quantile counts. */
export function pointOf(
  { level, met, unusable }: Level,
  clauses: readonly (Clause & Pick<ObjectiveFigure, "met">)[],
  phase: JudgedPhase,
): FrontierPoint {
  return {
    level,
    durationS: phase.durationS,
    met,
    admittedPerS: phase.rates.admitted,
    admittedPerSInterval: phase.rates.intervals?.admitted ?? null,
    figures: clauses.map((clause) => ({ clause: clause.text, met: clause.met, ...figureOf(clause, phase) })),
    ...(unusable === undefined ? {} : { unusable }),
  };
}

function figureOf(clause: Clause, phase: JudgedPhase): Pick<ObjectiveFigure, "value" | "interval"> {
  if (clause.kind === "quantile") {
    const name = clause.name;
    const all = phase.classes.flatMap((entry) =>
      entry.outcome === "admitted" ? (entry[`${clause.figure}Ms`] ?? []) : [],
    );
    const [worst] = all.sort((a, b) => b[name] - a[name]);
    return { value: worst?.[name] ?? null, interval: worst?.intervals?.[name] ?? null };
  }
  const [count, of] = [phase[clause.of], phase.offered];
  if (of === 0) return { value: null, interval: null };
  const { low, high } = wilson({ count, of }, 0.95);
  return { value: count / of, interval: [low, high] };
}

/** Levels in ascending order; if a level was held again, the longer run counts. */
export function frontierOf(points: readonly FrontierPoint[]): FrontierPoint[] {
  const longest = new Map<number, FrontierPoint>();
  for (const point of points)
    if (point.durationS >= (longest.get(point.level)?.durationS ?? 0)) longest.set(point.level, point);
  return [...longest.values()].sort((a, b) => a.level - b.level);
}
