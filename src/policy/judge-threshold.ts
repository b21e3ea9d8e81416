import { formatNumber, formatRounded, wilson } from "../core/index.ts";
import { finding } from "../judging/index.ts";
import type { Finding, LoadRun } from "../record/index.ts";
import { type Figure, figureOf, isMet, type NoFigure } from "./figure.ts";
import { type MetricName, metricOf } from "./metrics.ts";
import type { Threshold } from "./threshold.ts";

/** Counts that hold whatever the schedule was: a generator that was late does not change them. */
const OF_CONTENT: readonly MetricName[] = ["failed", "failed_share", "invalid", "invalid_share"];

/** Judges a load run by a threshold of its workload, which is decided only if the whole interval is on one side of the bound. */
export function judgeThreshold(run: LoadRun, threshold: Threshold): Finding {
  const { operator, bound, metric } = threshold;
  const common = commonOf(threshold);
  if (bound.kind !== "number") return finding({ ...common, undecided: "a workload has no baseline" });
  const seen = figureIn(OF_CONTENT.includes(metric) ? onTime(run) : run, threshold);
  const write = writerOf(metric);
  if (!("value" in seen)) {
    const { valid, problems } = run.generator;
    return finding({ ...common, undecided: valid ? seen.why : { kind: "machine-busy", problems } });
  }
  const met = isMet(seen, operator, bound.value);
  const figure = figureText(seen, write);
  if (met === undefined)
    return finding({
      ...common,
      undecided: `${figure}: the interval contains the bound; more requests narrow it${metricOf(metric).kind === "share" ? moreRequests(seen, bound.value) : ""}`,
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
function figureText({ value, low, high, provenBy, labels }: Figure, write: (value: number) => string): string {
  const hasInterval = low !== undefined && high !== undefined && write(low) !== write(high);
  const interval = hasInterval ? ` (95 % interval: ${write(low)} to ${write(high)})` : "";
  const proof = provenBy === undefined ? "" : `${provenBy} is already `;
  return `${proof}${write(value)}${interval}${seriesText(labels)}`;
}

/** ` in tier=growth, phase=at-limit`: which of the series that a threshold matches decided. */
function seriesText(labels: Figure["labels"]): string {
  const named = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  return named.length === 0 ? "" : ` in ${named.join(", ")}`;
}

/** Beyond this, nobody waits for a decision. */
const MAX_REQUESTS = 1e9;

/** How many requests would decide a share if it stays as observed, rounded up to two digits. */
function moreRequests({ value, samples }: Figure, bound: number): string {
  const isOpen = (of: number) => {
    const { low, high } = wilson({ count: value * of, of }, 0.95);
    return low <= bound && bound <= high;
  };
  let [open, decided] = [samples, samples * 2];
  while (decided < MAX_REQUESTS && isOpen(decided)) [open, decided] = [decided, decided * 2];
  if (decided >= MAX_REQUESTS) return ", but the share is too close to the bound for any practical number";
  while (decided - open > 1) {
    const middle = Math.floor((open + decided) / 2);
    if (isOpen(middle)) open = middle;
    else decided = middle;
  }
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(decided)) - 1);
  return `: about ${formatNumber(Math.ceil(decided / unit) * unit)} would decide it if the share stays the same, instead of ${formatNumber(samples)}`;
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
