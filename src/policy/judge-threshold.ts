import { countToDecide, formatNumber, formatRounded } from "../core/index.ts";
import { finding } from "../judging/index.ts";
import type { Finding, LoadRun } from "../record/index.ts";
import { type Figure, figureOf, isMet, type NoFigure, provenAt } from "./figure.ts";
import { type MetricName, metricOf } from "./metrics.ts";
import type { Threshold } from "./threshold.ts";

/** Counts that hold whatever the schedule was: a generator that was late does not change them. */
const CONTENT_METRICS: readonly MetricName[] = ["failed", "failed_share", "invalid", "invalid_share"];

/** Judges a load run by a threshold of its workload, which is decided only if the whole interval is on one side of the bound. */
export function judgeThreshold(run: LoadRun, threshold: Threshold): Finding {
  const { operator, bound, metric } = threshold;
  const common = commonOf(threshold);
  if (bound.kind !== "number") return finding({ ...common, undecided: "a workload has no baseline" });
  // A threshold that would be undecided on an idle machine too is not blamed on a busy one.
  const seen = figureIn(onTime(run), threshold);
  const write = writerOf(metric);
  if (!("value" in seen)) {
    const { approximately, why } = seen;
    return finding({ ...common, undecided: approximately === undefined ? why : `≈${write(approximately)}: ${why}` });
  }
  const met = isMet(seen, operator, bound.value);
  const figure = figureText(seen, write, run);
  if (met === undefined)
    return finding({
      ...common,
      undecided: `${figure}: the interval contains the bound. ${metricOf(metric).kind === "share" ? moreRequests(seen, bound.value) : "More requests narrow it"}`,
    });
  const isBusy = !CONTENT_METRICS.includes(metric) && !("value" in figureIn(run, threshold));
  // Such a figure is not judged, but it is reported, because it was shown during the run.
  if (isBusy)
    return finding({
      ...common,
      observed: figure,
      undecided: { kind: "machine-busy", problems: run.generator.problems },
    });
  return finding({ ...common, expected: expectedOf(threshold), observed: figure, met });
}

/** The finding for a threshold that is crossed. @param figure that crosses it, as text. */
export function crossedThreshold(threshold: Threshold, figure: string): Finding {
  return finding({ ...commonOf(threshold), expected: expectedOf(threshold), observed: figure, met: false });
}

function commonOf({ text, operator }: Threshold) {
  const subject = text.slice(0, text.lastIndexOf(` ${operator} `));
  return { name: text, title: `Threshold: ${text}`, requirements: [], subject };
}

/** `< 800 ms`. */
function expectedOf({ text, operator, bound, metric }: Threshold): string {
  return bound.kind === "number" ? `${operator} ${boundText(metric, bound.value)}` : text;
}

const figureIn = (run: LoadRun, threshold: Threshold): Figure | NoFigure =>
  figureOf({ checks: [], load: { runs: [run] } }, threshold);

const onTime = (run: LoadRun): LoadRun => ({ ...run, generator: { ...run.generator, valid: true } });

/** `412 ms (95 % interval: 390 ms to 440 ms)`. */
function figureText(
  { value, low, high, provenBy, labels }: Figure,
  write: (value: number) => string,
  run: Pick<LoadRun, "name">,
): string {
  const hasInterval = low !== undefined && high !== undefined && write(low) !== write(high);
  const interval = hasInterval ? ` (95 % interval: ${write(low)} to ${write(high)})` : "";
  return `${write(value)}${provenAt(provenBy)}${interval}${seriesText(labels, run)}`;
}

/**
 * ` in phase=at-limit, stream=true`: which of the series that a threshold matches decided. Labels that are the name of the run and
 * the default outcome say nothing more.
 */
function seriesText(labels: Figure["labels"], { name }: Pick<LoadRun, "name">): string {
  const named = Object.entries(labels)
    .filter(([label, value]) => !((label === "tier" || label === "phase") && value === name))
    .filter(([label, value]) => !(label === "outcome" && value === "admitted"))
    .map(([label, value]) => `${label}=${value}`);
  return named.length === 0 ? "" : ` in ${named.join(", ")}`;
}

/** How many requests would decide a share. */
function moreRequests({ value, samples }: Figure, bound: number): string {
  const needed = countToDecide(value, bound, { from: samples, confidence: 0.95 });
  return Number.isFinite(needed)
    ? `About ${formatNumber(needed)} requests would decide it if the share stays the same; there were ${formatNumber(samples)}`
    : "The share is too close to the bound for any practical number of requests to decide";
}

/** A bound with the unit of its metric. */
function boundText(metric: MetricName, bound: number): string {
  if (metric.endsWith("_ms")) return `${formatRounded(bound, 3)} ms`;
  return writerOf(metric)(bound);
}

/** Figures with their units, which the names of the metrics end with. */
function writerOf(metric: MetricName): (value: number) => string {
  if (metric.endsWith("_ms")) return (value) => `${formatNumber(value, value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;
  if (metricOf(metric).kind === "share") return (value) => `${formatRounded(value * 100, 2)} %`;
  if (metric.endsWith("_per_s")) return (value) => `${formatRounded(value, 2)}/s`;
  return (value) => formatRounded(value, 2);
}
