import { describeFigure } from "../../reports/text/index.ts";
import type { MeasuredShare } from "../core/index.ts";
import {
  type ComparedMetric,
  compareSeparateRuns,
  isSameLoad,
  type LoadClass,
  type LoadPhase,
  type LoadRun,
  measuredShare,
  type Quantiles,
  type RunRecord,
  SAMPLES_NEEDED,
  withoutPassCriteria,
} from "../record/index.ts";
import { COMPARED_COUNTS } from "./counts.ts";
import { adjustForLengths, TOKENS_PER_REPLY } from "./reply-lengths.ts";

const FIELDS = [
  ["responseMs", "response_ms"],
  ["ttftMs", "ttft_ms"],
  ["eventGapMs", "event_gap_ms"],
] as const satisfies readonly (readonly [keyof LoadClass, string])[];
/** The first tail for which both runs have enough requests is compared, next to the median. */
const TAILS = ["p99", "p95", "p90"] as const satisfies readonly (keyof Quantiles)[];
const STATS = ["p50", "p90", "p95", "p99"] as const satisfies readonly (keyof Quantiles)[];

/** A metric of a run, with its number of samples. */
interface Figure {
  readonly value: number;
  readonly samples: number;
  readonly unit: ComparedMetric["unit"];
  readonly worse: ComparedMetric["worse"];
  /** Of a latency. */
  readonly stat?: (typeof STATS)[number];
  /** Of a latency: the run has too few independent requests for an interval of this quantile. */
  readonly lacksInterval?: boolean;
  /** Of a share, with its 95 % interval. */
  readonly share?: MeasuredShare;
}

export interface StoredNoise {
  /** A latency counts as changed only if it differs by more than this factor; default: `NOISE_FACTOR`. */
  readonly noiseFactor?: number | undefined;
}

export interface StoredMetrics {
  readonly metrics: ComparedMetric[];
  /** What only one of the two runs has, as text. */
  readonly notCompared: string[];
  /** Quantiles with too few requests, as text: `E2E p99, chat streaming (62; p95 instead)`. */
  readonly tooFew: string[];
}

/** Metrics of the loads that both runs have, with the median and one tail of each latency. */
export function storedMetrics(a: RunRecord, b: RunRecord, noise: StoredNoise): StoredMetrics {
  const [first, second] = [a.load?.runs ?? [], b.load?.runs ?? []];
  const added = first.flatMap((before) => {
    const now = second.find(({ name }) => name === before.name);
    if (now === undefined) return [];
    const known = figuresOf(before);
    const count = [...figuresOf(now).keys()].filter((name) => !known.has(name)).length;
    return count === 0 ? [] : [`${count} metrics of ${now.name} that only the second run has`];
  });
  const notCompared = [...loadsOf(first, second, "first"), ...loadsOf(second, first, "second"), ...added];
  const tooFew: string[] = [];
  const figures = judgedFigures(a, b, noise);
  const withInterval = new Set(figures.filter(({ lacksInterval }) => !lacksInterval).map(({ metric }) => metric.name));
  const metrics = figures.flatMap(({ metric, stat, samples }) => {
    if (stat === undefined || stat === "p50") return [metric];
    const tails = TAILS.filter((one) => samples >= SAMPLES_NEEDED[one]);
    const [tail] = tails;
    // A tail without an interval may leave a change undecided: the highest one that can decide is compared as well.
    const decidable = tails.find((one) => withInterval.has(metric.name.replace(/\S+$/, one)));
    if (stat === "p99" && tail !== "p99")
      tooFew.push(`${describeFigure(metric.name)} (${samples}${tail === undefined ? "" : `; ${tail} instead`})`);
    return stat === tail || stat === decidable ? [metric] : [];
  });
  return { metrics: adjustForLengths(metrics), notCompared, tooFew };
}

/** Every figure of the loads that both runs have, with all quantiles. */
export function allStoredMetrics(a: RunRecord, b: RunRecord): ComparedMetric[] {
  return adjustForLengths(judgedFigures(a, b, {}).map(({ metric }) => metric));
}

interface JudgedFigure {
  readonly metric: ComparedMetric;
  readonly stat: Figure["stat"];
  /** The smaller number of the two runs. */
  readonly samples: number;
  /** One of the two runs has too few independent requests for an interval. */
  readonly lacksInterval: boolean;
}

/** Figures of the loads that both runs have, including those for which only the first run has a value. */
function judgedFigures(a: RunRecord, b: RunRecord, { noiseFactor }: StoredNoise): JudgedFigure[] {
  const machines = isSameMachine(a, b) ? undefined : "the two runs were made on different machines";
  return (a.load?.runs ?? []).flatMap((before) => {
    const now = b.load?.runs.find(({ name }) => name === before.name);
    if (now === undefined) return [];
    const later = figuresOf(now);
    const isSame = isSameLoad(withoutPassCriteria(before), withoutPassCriteria(now));
    const late = before.generator.valid && now.generator.valid ? undefined : "a generator was not on time";
    return [...figuresOf(before)].flatMap(
      ([name, { value, samples: firstSamples, unit, worse, stat, share, ...first }]) => {
        // Without tokens in the first run, there is nothing to compare with.
        if (unit === "tokens" && value === 0) return [];
        const same = later.get(name);
        const samples = Math.min(firstSamples, same?.samples ?? firstSamples);
        const lacksInterval = first.lacksInterval === true || same?.lacksInterval === true;
        const metric = compareSeparateRuns({
          ...{ name, unit, worse, a: value, b: same?.value ?? null },
          ...{ samples, lacksInterval, noiseFactor },
          shares: share && same?.share && { a: share, b: same.share },
          notComparable: isSame
            ? notComparableReason(name, unit, { machines, late })
            : "the two runs sent different loads",
        });
        return [{ metric, stat, samples, lacksInterval }];
      },
    );
  });
}

/** Shares that do not depend on timing, as for thresholds: a late generator does not invalidate them. */
const CONTENT_METRICS = /\b(?:failed|invalid)_share$/;

interface Differences {
  readonly machines: string | undefined;
  readonly late: string | undefined;
}

/** Why a figure of the same load cannot be compared. The length of replies depends neither on the machine nor on the timing. */
function notComparableReason(
  name: string,
  unit: ComparedMetric["unit"],
  { machines, late }: Differences,
): string | undefined {
  if (unit === "tokens") return undefined;
  return machines ?? (CONTENT_METRICS.test(name) ? undefined : late);
}

function loadsOf(some: readonly LoadRun[], others: readonly LoadRun[], which: "first" | "second"): string[] {
  const missing = some.filter(({ name }) => !others.some((other) => other.name === name));
  return missing.length === 0
    ? []
    : [`load ${missing.map(({ name }) => name).join(", ")}, which only the ${which} run has`];
}

function isSameMachine({ environment: a }: RunRecord, { environment: b }: RunRecord): boolean {
  return a.platform === b.platform && a.cpuModel === b.cpuModel && a.cpus === b.cpus;
}

/** The name of the share of an outcome in a phase. */
export function shareName(run: LoadRun, phase: LoadPhase, what: (typeof COMPARED_COUNTS)[number]): string {
  return `${placeOf(run, phase)} ${what}_share`;
}

/** How the names of figures begin. The phase of a workload has the name of the run. */
export function placeOf(run: LoadRun, phase: LoadPhase): string {
  return phase.name === run.name ? run.name : `${run.name} ${phase.name}`;
}

function figuresOf(run: LoadRun): Map<string, Figure> {
  const figures = new Map<string, Figure>();
  for (const phase of run.phases) {
    const { sent } = phase;
    const where = placeOf(run, phase);
    for (const what of COMPARED_COUNTS) {
      const share = shareOf(phase, what);
      figures.set(shareName(run, phase, what), {
        ...{ value: share.share, samples: sent, unit: "share", worse: "higher", share },
      });
    }
    for (const entry of phase.classes.filter(({ outcome, count }) => outcome === "admitted" && count > 0))
      for (const [name, figure] of ofClass(entry)) figures.set(`${where} ${name}`, figure);
  }
  return figures;
}

/** The recorded interval, which takes into account that requests depend on each other; without one, that of independent requests. */
function shareOf(phase: LoadPhase, what: (typeof COMPARED_COUNTS)[number]): MeasuredShare {
  const { sent, shares } = phase;
  const interval = shares?.intervals[what];
  if (shares === undefined || !interval) return measuredShare(sent === 0 ? 0 : phase[what] / sent, sent);
  return { share: shares[what], low: interval[0], high: interval[1] };
}

function ofClass(entry: LoadClass): [name: string, figure: Figure][] {
  const { dialect, stream, count: samples, outputTokens } = entry;
  const kind = `${dialect} ${stream ? "streaming" : "non-streaming"}`;
  const latencies = FIELDS.flatMap(([field, label]): [string, Figure][] => {
    const quantiles = entry[field];
    if (quantiles === null) return [];
    return STATS.map((stat) => [
      `${kind} ${label} ${stat}`,
      {
        ...{ value: quantiles[stat], samples, unit: "ms", worse: "higher", stat },
        lacksInterval: quantiles.intervals?.[stat] === null,
      },
    ]);
  });
  // Non-streaming replies without usage: the number of tokens is unknown.
  if (outputTokens === 0 && !stream) return latencies;
  const length = { value: outputTokens / samples, samples, unit: "tokens", worse: "lower" } as const;
  return [[`${kind} ${TOKENS_PER_REPLY}`, length], ...latencies];
}
