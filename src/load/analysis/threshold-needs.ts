import { countToDecide, formatNumber, UsageError } from "../../core/index.ts";
import { LATENCY_FIGURE_NAMES, LATENCY_FIGURES } from "../../metrics/index.ts";
import { isShare, minSamplesOf, type Threshold } from "../../policy/index.ts";
import { planOf } from "../schedule/arrivals.ts";
import type { RequestClass, Workload } from "../workload/workload.ts";
import { assertMeasurable } from "./capacity/objective.ts";

/**
 * Checks, before anything is sent, whether a workload can decide its thresholds.
 *
 * @returns a sentence for each threshold for which the workload sends too few requests, or may by chance: it can only be crossed, or stay undecided.
 * @throws UsageError for a threshold that matches no requests, or on a latency that none of them has.
 */
export function thresholdNeeds({ arrivals, mix, thresholds = [] }: Workload): string[] {
  if (arrivals === undefined) return [];
  const { requests, maxRequests } = planOf(arrivals);
  const weights = mix.reduce((sum, { weight }) => sum + weight, 0);
  return thresholds.flatMap(({ threshold }) => {
    const classes = mix.filter((one) => appliesTo(threshold, one));
    if (classes.length === 0)
      throw new UsageError(
        `threshold "${threshold.text}" matches no requests: no class in the mix has ${labelsText(threshold)}`,
        {
          hint: "Change the labels of the threshold, or add such a class to the mix.",
        },
      );
    assertHasLatency(threshold, classes);
    if (requests === undefined) return [];
    const expected = classes.map(({ weight }) => Math.floor((requests * weight) / weights));
    const needed = requestsNeeded(threshold);
    const planned = isLatency(threshold) ? Math.min(...expected) : expected.reduce((sum, own) => sum + own, 0);
    // The count varies if arrivals are random, or if only some kinds count: the kind of each request is random.
    const isRandom = maxRequests !== undefined || (isLatency(threshold) ? mix.length > 1 : classes.length < mix.length);
    const fewest = isRandom ? planned - DEVIATIONS * Math.sqrt(planned) : planned;
    if (needed === undefined || fewest >= needed) return [];
    const of = isLatency(threshold) && mix.length > 1 ? " of each kind" : "";
    const needs = `threshold "${threshold.text}" needs at least ${formatNumber(needed)} requests${of} to be met`;
    return [
      planned >= needed
        ? `${needs}; the workload sends about ${formatNumber(planned)} on average, so a run may send too few`
        : `${needs}, but the workload sends only about ${formatNumber(planned)}, so the threshold can only be crossed or remain undecided`,
    ];
  });
}

/** A random number of requests is lower than expected by more than this many standard deviations in 1 of 44 runs. */
const DEVIATIONS = 2;

/** Whether requests of a class count for a threshold. */
function appliesTo({ labels }: Threshold, { dialect, stream }: RequestClass): boolean {
  const labelMatches = (label: string, value: string) => labels[label] === undefined || labels[label] === value;
  return labelMatches("dialect", dialect) && labelMatches("stream", String(stream));
}

/** `dialect=messages, stream=true`. */
const labelsText = ({ labels }: Threshold): string =>
  Object.entries(labels)
    .filter(([label]) => label === "dialect" || label === "stream")
    .map(([label, value]) => `${label}=${value}`)
    .join(", ");

const figureOf = ({ metric }: Threshold) =>
  LATENCY_FIGURE_NAMES.find((name) => LATENCY_FIGURES[name].metric === metric);

const isLatency = (threshold: Threshold): boolean => figureOf(threshold) !== undefined;

function assertHasLatency(threshold: Threshold, classes: readonly RequestClass[]): void {
  const figure = figureOf(threshold);
  if (figure !== undefined) assertMeasurable([{ kind: "quantile", text: threshold.text, figure }], classes);
}

/** Confidence of the intervals that decide thresholds. */
const CONFIDENCE = 0.95;

/** Requests that meet a threshold in the best case; `undefined`: any number may. */
function requestsNeeded(threshold: Threshold): number | undefined {
  const { metric, stat, operator, bound } = threshold;
  if (isLatency(threshold)) return stat === undefined ? undefined : minSamplesOf(stat);
  if (!isShare(metric) || bound.kind !== "number") return undefined;
  const best = operator.startsWith("<") ? 0 : operator.startsWith(">") ? 1 : undefined;
  if (best === undefined || bound.value === best) return undefined;
  const needed = countToDecide(best, bound.value, { from: 1, confidence: CONFIDENCE });
  return Number.isFinite(needed) ? needed : undefined;
}
