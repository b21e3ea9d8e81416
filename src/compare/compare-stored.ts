import {
  type ComparedMetric,
  type Comparison,
  checkChanges,
  type LoadClass,
  onceAgainstOnce,
  type Quantiles,
  type RunRecord,
} from "../record/index.ts";
import { concluded } from "./compare-live.ts";
import { type Behaviour, driftBetween } from "./drift.ts";

/** A stored run with the answers that were kept of it. */
export interface StoredSide {
  readonly record: RunRecord;
  readonly behaviour: Behaviour;
}

/**
 * Two stored runs side by side. Checks and behaviour are compared as in a session; figures of one run against one run have
 * no interval, so they are shown and decide nothing.
 */
export function compareStored(a: StoredSide, b: StoredSide): Comparison {
  return concluded({
    kind: "stored",
    a: sideOf(a.record),
    b: sideOf(b.record),
    seed: null,
    order: [],
    control: null,
    metrics: metricsOf(a.record, b.record),
    checks: checkChanges(
      new Map(a.record.checks.map(({ id, status }) => [id, status])),
      b.record.checks,
      () => b.record.complete,
    ),
    drift: driftBetween(a.behaviour, b.behaviour),
  });
}

function sideOf({ target, runId, startedAt }: RunRecord): Comparison["a"] {
  return { label: target.name, runId, startedAt, ...(target.build === undefined ? {} : { build: target.build }) };
}

const FIELDS = [
  ["responseMs", "response_ms"],
  ["ttftMs", "ttft_ms"],
  ["gapMs", "gap_ms"],
] as const satisfies readonly (readonly [keyof LoadClass, string])[];
const STATS = ["p50", "p99"] as const satisfies readonly (keyof Quantiles)[];

function metricsOf(a: RunRecord, b: RunRecord): ComparedMetric[] {
  const [before, now] = [figuresOf(a), figuresOf(b)];
  return [...before].flatMap(([name, value]) => {
    const later = now.get(name);
    if (later === undefined) return [];
    const change = value === 0 ? null : later / value - 1;
    return [onceAgainstOnce({ name, unit: "ms", worse: "higher", a: value, b: later, change })];
  });
}

function figuresOf({ load }: RunRecord): Map<string, number> {
  const figures = new Map<string, number>();
  for (const run of load?.runs ?? []) {
    for (const phase of run.phases) {
      for (const entry of phase.classes) {
        if (entry.outcome !== "admitted") continue;
        for (const [field, label] of FIELDS) {
          const quantiles = entry[field];
          if (quantiles === null) continue;
          const mode = entry.stream ? "stream" : "whole";
          for (const stat of STATS) {
            figures.set(`${run.name} ${phase.name} ${entry.dialect} ${mode} ${label} ${stat}`, quantiles[stat]);
          }
        }
      }
    }
  }
  return figures;
}
