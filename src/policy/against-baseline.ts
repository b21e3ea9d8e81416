import { describeChanges } from "../../reports/text/index.ts";
import {
  type ComparedMetric,
  type Comparison,
  checkChanges,
  compareSeparateRuns,
  measuredShare,
  type RunRecord,
} from "../record/index.ts";
import { type BaselineFile, directionOf, figuresOf, machineOf, type NamedFigures, workloadKey } from "./baseline.ts";

/**
 * Compares a run with the accepted baseline: which checks changed, and the figures of both. It decides nothing about the run:
 * gates on `baseline` do that, with explicit bounds.
 */
export function againstBaseline(record: RunRecord, baseline: BaselineFile): Comparison {
  const { conformance } = baseline;
  const before = new Map(Object.entries(conformance?.checks ?? {}));
  const { notSelected } = record;
  const checks = checkChanges({
    before,
    now: conformance === null ? [] : record.checks,
    // A check that the run did not select cannot vanish. Load is compared by its metrics.
    isSelected: (id) =>
      notSelected !== undefined && !notSelected.includes(id) && record.complete && !id.startsWith("load."),
  });
  const machine = JSON.stringify(machineOf(record));
  const metrics = (record.load?.runs ?? []).flatMap((run) => {
    const entry = baseline.performance.find(
      (candidate) =>
        candidate.tier === run.name &&
        candidate.workload === workloadKey(run) &&
        JSON.stringify(candidate.machine) === machine,
    );
    if (entry === undefined) return [];
    const now = figuresOf(record, run);
    return Object.entries(entry.figures).map(([name, before]) => metric(`${run.name}: ${name}`, before, now[name]));
  });
  const from = conformance?.from ?? baseline.performance[0]?.from;
  const broken = checks.newlyFailing.length + checks.vanished.length + checks.worse.length;
  const of = (verdict: ComparedMetric["verdict"]) => metrics.filter((one) => one.verdict === verdict);
  const decided =
    record.checks.filter(({ id, status }) => before.has(id) && status !== "blocked" && status !== "inconclusive")
      .length +
    metrics.length -
    of("inconclusive").length;
  const isOpen = decided === 0 || checks.lost.length + of("inconclusive").length > 0;
  return {
    kind: "baseline",
    a: {
      name: "baseline",
      label: "baseline",
      ...(from === undefined ? {} : { runId: from.runId, startedAt: from.startedAt }),
      ...(from?.build === undefined ? {} : { build: from.build }),
    },
    b: { name: "this run", label: "this run", runId: record.runId, startedAt: record.startedAt },
    verdict: broken + of("regressed").length > 0 ? "regressed" : isOpen ? "inconclusive" : "not worse",
    reasons: [
      ...describeChanges(checks),
      ...of("regressed").map(({ name, why }) => ({
        status: "fail" as const,
        text: `${name} regressed: ${why}; gates on the baseline decide`,
      })),
      ...of("inconclusive").map(({ name, why }) => ({
        status: "inconclusive" as const,
        text: `${name} is not decided: ${why}`,
      })),
      ...(decided === 0
        ? [{ status: "inconclusive" as const, text: "the baseline contains nothing of this run" }]
        : []),
    ],
    seed: null,
    order: [],
    control: null,
    metrics,
    checks,
    drift: [],
  };
}

type Figure = NamedFigures[string];

function metric(name: string, before: Figure, now: Figure | undefined): ComparedMetric {
  const { unit, worse } = directionOf(name);
  return compareSeparateRuns({
    ...{ name, unit, worse, a: before.value, b: now?.value ?? null },
    samples: now?.samples,
    shares: now && { a: measuredShare(before.value, before.samples), b: measuredShare(now.value, now.samples) },
  });
}
