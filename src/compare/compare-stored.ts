import {
  type ComparedMetric,
  type Comparison,
  checkChanges,
  type LoadClass,
  type LoadRun,
  onceAgainstOnce,
  type Quantiles,
  type RunRecord,
  statusOfFinding,
} from "../record/index.ts";
import { type Behaviour, driftBetween } from "./drift.ts";
import { isPrimary } from "./judge-metrics.ts";

/** A stored run with the answers that were kept of it. */
export interface StoredSide {
  readonly record: RunRecord;
  readonly behaviour: Behaviour;
}

type Result = Pick<RunRecord["checks"][number], "id" | "status" | "message">;

/**
 * Two stored runs side by side. Verdicts, checks and behaviour are compared as in a session; of the figures only
 * what lies beyond the noise between two days decides, and it is weaker evidence.
 */
export function compareStored(a: StoredSide, b: StoredSide): Comparison {
  const before = resultsOf(a.record);
  const now = resultsOf(b.record);
  const checks = checkChanges(new Map(before.map(({ id, status }) => [id, status])), now, () => b.record.complete);
  const metrics = metricsOf(a.record, b.record);
  const drift = driftBetween(a.behaviour, b.behaviour);
  return {
    kind: "stored",
    a: sideOf(a.record),
    b: sideOf(b.record),
    ...conclude(a.record, b.record, { checks, metrics, drift, decided: decidedInBoth(before, now) }),
    seed: null,
    order: [],
    control: null,
    metrics,
    checks,
    drift,
  };
}

function sideOf({ target, runId, startedAt }: RunRecord): Comparison["a"] {
  return {
    label: `${target.name} at ${target.baseUrl}`,
    runId,
    startedAt,
    ...(target.build === undefined ? {} : { build: target.build }),
  };
}

/** Everything that a run judged: its checks, and each comparison in them that has a name of its own. */
function resultsOf({ checks }: RunRecord): Result[] {
  return checks.flatMap((check) => [
    check,
    ...check.findings
      .filter(({ name, requirements }) => !requirements.includes(name))
      .map((finding) => ({
        id: `${check.id}.${finding.name}`,
        status: statusOfFinding(finding),
        message: finding.observed,
      })),
  ]);
}

const DECIDED: readonly Result["status"][] = ["pass", "warn", "fail", "flaky"];
const UNDECIDED: readonly (Result["status"] | null)[] = ["blocked", "inconclusive", "harness-error"];

/** How many results both runs decided: where it is none, nothing was compared. */
function decidedInBoth(before: readonly Result[], now: readonly Result[]): number {
  const decided = new Set(before.filter(({ status }) => DECIDED.includes(status)).map(({ id }) => id));
  return now.filter(({ id, status }) => decided.has(id) && DECIDED.includes(status)).length;
}

/** Best first. */
const WORDS = ["pass", "inconclusive", "error", "fail"] as const satisfies readonly RunRecord["verdict"]["result"][];

interface Found extends Pick<Comparison, "checks" | "metrics" | "drift"> {
  readonly decided: number;
}

function conclude(a: RunRecord, b: RunRecord, found: Found): Pick<Comparison, "verdict" | "reasons"> {
  const { checks, metrics, drift, decided } = found;
  const of = (verdict: Comparison["verdict"]) => metrics.filter((metric) => metric.verdict === verdict);
  const rank = ({ verdict }: RunRecord) => WORDS.indexOf(verdict.result);
  const worse = rank(b) > rank(a);
  const cut = [a, b].filter(({ complete }) => !complete);
  const open = checks.other.filter(
    ({ before, now }) => UNDECIDED.includes(now) || (before === "fail" && now === "not-applicable"),
  );
  const undecided = of("inconclusive").filter(isPrimary);
  const compared = decided + of("not worse").length + of("improved").length + of("regressed").length;
  const isRegressed =
    (worse && b.verdict.result === "fail") ||
    checks.newlyFailing.length + checks.vanished.length + of("regressed").length > 0;
  const isOpen = worse || cut.length > 0 || open.length > 0 || undecided.length > 0 || compared === 0;
  return {
    verdict: isRegressed
      ? "regressed"
      : isOpen
        ? "inconclusive"
        : of("improved").length > 0 || checks.fixed.length > 0
          ? "improved"
          : "not worse",
    reasons: [
      ...(worse
        ? [
            `the verdict of the second run is ${b.verdict.result.toUpperCase()}, that of the first ${a.verdict.result.toUpperCase()}`,
          ]
        : []),
      ...countLines(checks.newlyFailing, "fails now and did not before", "fail now and did not before"),
      ...countLines(checks.vanished, "is gone", "are gone"),
      ...of("regressed").map((metric) => `${figureText(metric)} (weaker evidence than a live comparison)`),
      ...of("improved").map((metric) => `${figureText(metric)} (weaker evidence than a live comparison)`),
      ...cut.map(({ runId }) => `run ${runId} was cut short`),
      ...countLines(open, "is not decided any more", "are not decided any more"),
      ...undecidedLines(undecided),
      ...(compared === 0 ? ["nothing was decided in both runs"] : []),
      ...(drift.length === 0 ? [] : [`it behaves differently in ${drift.length} places`]),
    ],
  };
}

function countLines(some: readonly { readonly id: string }[], one: string, many: string): string[] {
  const [first] = some;
  if (first === undefined) return [];
  return some.length === 1 ? [`${first.id} ${one}`] : [`${first.id} and ${some.length - 1} more ${many}`];
}

function undecidedLines(metrics: readonly ComparedMetric[]): string[] {
  const [first] = metrics;
  if (first === undefined) return [];
  const more = metrics.length === 1 ? "" : ` and ${metrics.length - 1} more figures`;
  const change =
    first.change === null || first.unit === "share" ? "" : ` changed by ${(first.change * 100).toFixed(0)} %`;
  return [`${first.name}${more} cannot be decided from two runs: ${first.name}${change}, ${first.why}`];
}

function figureText({ name, unit, a, b, verdict }: ComparedMetric): string {
  const show = (value: number | null) =>
    unit === "share" ? `${((value ?? 0) * 100).toFixed(1)} %` : (value ?? 0).toFixed(1);
  return `${name} ${verdict === "regressed" ? "went" : "improved"} from ${show(a)} to ${show(b)}${unit === "share" ? "" : ` ${unit}`}`;
}

const FIELDS = [
  ["responseMs", "response_ms"],
  ["ttftMs", "ttft_ms"],
  ["gapMs", "gap_ms"],
] as const satisfies readonly (readonly [keyof LoadClass, string])[];
const STATS = ["p50", "p99"] as const satisfies readonly (keyof Quantiles)[];

/** One figure of a run, and how many samples it rests on. */
interface Figure {
  readonly value: number;
  readonly samples: number;
  readonly unit: ComparedMetric["unit"];
  readonly worse: ComparedMetric["worse"];
}

function metricsOf(a: RunRecord, b: RunRecord): ComparedMetric[] {
  const machines = isSameMachine(a, b) ? undefined : "the two runs were made on different machines";
  return (a.load?.runs ?? []).flatMap((before) => {
    const now = b.load?.runs.find(({ name }) => name === before.name);
    if (now === undefined) return [];
    const apart = machines ?? whyApart(before, now);
    const later = figuresOf(now);
    return [...figuresOf(before)].flatMap(([name, { value, samples, unit, worse }]) => {
      if (samples < FEWEST_SAMPLES) return [];
      const same = later.get(name);
      return onceAgainstOnce({
        ...{ name, unit, worse, a: value, b: same?.value ?? null },
        ...{ samples: Math.min(samples, same?.samples ?? 0), apart },
      });
    });
  });
}

function isSameMachine({ environment: a }: RunRecord, { environment: b }: RunRecord): boolean {
  return a.platform === b.platform && a.cpuModel === b.cpuModel && a.cpus === b.cpus;
}

/** Why the figures of two load runs say nothing about each other. */
function whyApart(a: LoadRun, b: LoadRun): string | undefined {
  const asked = ({ kind, engine, limits, workload }: LoadRun) => JSON.stringify({ kind, engine, limits, workload });
  if (asked(a) !== asked(b)) return "the two runs were asked for different loads";
  return a.generator.valid && b.generator.valid ? undefined : "a generator was not on time";
}

/** Figures that rest on fewer samples are not compared. */
const FEWEST_SAMPLES = 30;

function figuresOf(run: LoadRun): Map<string, Figure> {
  const figures = new Map<string, Figure>();
  for (const phase of run.phases) {
    const { sent, failed, denied } = phase;
    for (const [what, count] of Object.entries({ failed, denied }))
      figures.set(`${run.name} ${phase.name} ${what}_share`, {
        ...{ value: sent === 0 ? 0 : count / sent, samples: sent, unit: "share", worse: "higher" },
      });
    for (const entry of phase.classes.filter(({ outcome }) => outcome === "admitted")) {
      const mode = entry.stream ? "streaming" : "non-streaming";
      for (const [field, label] of FIELDS) {
        const quantiles = entry[field];
        if (quantiles === null) continue;
        for (const stat of STATS)
          figures.set(`${run.name} ${phase.name} ${entry.dialect} ${mode} ${label} ${stat}`, {
            ...{ value: quantiles[stat], samples: entry.count, unit: "ms", worse: "higher" },
          });
      }
    }
  }
  return figures;
}
