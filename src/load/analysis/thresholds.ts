import * as z from "zod";
import { describeFacts } from "../../../reports/text/index.ts";
import { formatCount, formatNumber, isObject, member, UsageError, wilson } from "../../core/index.ts";
import { conclusionOf } from "../../judging/index.ts";
import { crossedThreshold, judgeThreshold, parseThreshold, subjectOf, type Threshold } from "../../policy/index.ts";
import {
  type EndingThreshold,
  type Finding,
  type JudgedPhase,
  type JudgedRun,
  type LoadRun,
  UNMEASURED,
} from "../../record/index.ts";
import { type OutcomeCounts, phaseRecord } from "../measure/phase-record.ts";
import type { Tally } from "../measure/tally.ts";
import type { LoadGuard, LoadTotalsSoFar } from "../send/load-guard.ts";

/** A threshold of a workload. */
export interface WorkloadThreshold {
  readonly threshold: Threshold;
  /** Ends the load as soon as the threshold is crossed. */
  readonly abortOnFail: boolean;
  /** This threshold does not end the load before this time, in seconds from the start of the measurement. */
  readonly delayAbortEvalS: number;
}

const text = z.string().superRefine((written, context) => {
  const read = parseThreshold(written);
  const problem =
    typeof read === "string"
      ? read
      : read.bound.kind === "baseline"
        ? "has a baseline, which only a policy has"
        : undefined;
  if (problem !== undefined) context.addIssue({ code: "custom", message: `"${written}" ${problem}` });
});

/** Thresholds of a workload file, in the grammar of policies. */
export const thresholdsSchema = z
  .array(
    z.union([
      text,
      z.strictObject({
        threshold: text,
        abortOnFail: z.boolean().optional(),
        delayAbortEvalS: z.number().nonnegative().optional(),
      }),
    ]),
  )
  .min(1)
  .superRefine((all, context) => {
    const seen = new Map<string, number>();
    for (const [index, entry] of all.entries()) {
      const read = parseThreshold(typeof entry === "string" ? entry : entry.threshold);
      if (typeof read === "string") continue;
      const first = seen.get(subjectOf(read));
      if (first === undefined) seen.set(subjectOf(read), index);
      else
        context.addIssue({
          code: "custom",
          message: `bounds the same figure in the same direction as threshold ${first + 1}; remove one of them`,
          path: [index],
        });
    }
  });

/** @param written thresholds of a workload as in its file, or in the record of a run; anything else has none. */
export function readThresholds(written: unknown): WorkloadThreshold[] {
  const parsed = thresholdsSchema.safeParse(written);
  return (parsed.success ? parsed.data : []).flatMap((entry) => {
    const {
      threshold,
      abortOnFail = false,
      delayAbortEvalS = 0,
    } = typeof entry === "string" ? { threshold: entry } : entry;
    const read = parseThreshold(threshold);
    return typeof read === "string" ? [] : [{ threshold: read, abortOnFail, delayAbortEvalS }];
  });
}

/** Shares that both `allow` and a threshold can bound, with the metric of the threshold. */
const METRIC_OF = { deniedShare: "denied_share", failedShare: "failed_share" } as const;
type ThresholdShare = keyof typeof METRIC_OF;

/**
 * The upper bound that a threshold sets on the share of all requests, where the workload does not set one in `allow`: the
 * threshold then decides, instead of the default of `allow`.
 *
 * @param written the workload as in its file.
 */
export function thresholdBoundOf(written: unknown, share: ThresholdShare): number | undefined {
  if (!isObject(written) || member(written["allow"], share) !== undefined) return undefined;
  const bounds = readThresholds(written["thresholds"]).flatMap(({ threshold: { metric, labels, operator, bound } }) =>
    metric === METRIC_OF[share] &&
    Object.keys(labels).length === 0 &&
    (operator === "<" || operator === "<=") &&
    bound.kind === "number"
      ? [bound.value]
      : [],
  );
  return bounds[0];
}

/** Judges a run by the thresholds of its workload, if that has any. What one of several shards sent is not judged. */
export function withThresholds(run: JudgedRun): JudgedRun {
  const thresholds = readThresholds(isObject(run.workload) ? run.workload["thresholds"] : undefined);
  if (thresholds.length === 0 || run.shard !== undefined) return run;
  const findings = thresholds.map(({ threshold }) => withEnd(judgeThreshold(run, threshold), threshold, run));
  return { ...run, thresholds: findings.map((one) => ({ ...conclusionOf([one]), findings: [one] })) };
}

/**
 * Adds to the finding of a threshold that it ended the load. The threshold is then crossed even if the interval over the whole
 * run contains its bound, because responses still arrive after the end; unless the generator was late, which may be the cause.
 */
function withEnd(judged: Finding, threshold: Threshold, { endedBy, generator }: JudgedRun): Finding {
  if (endedBy?.threshold !== threshold.text) return judged;
  const end = `which ended the load after ${endText(endedBy)}`;
  if (judged.outcome === "broken") return crossedThreshold(threshold, `${describeFacts(judged)}, ${end}`);
  if (generator.valid) return crossedThreshold(threshold, `${endedBy.figure}, ${end}`);
  return { ...judged, observed: { kind: "facts", text: `${endedBy.figure}, ${end}` } };
}

/** `6 of 30 s, 183 of 900 requests`. */
function endText({ afterS, progress }: EndingThreshold): string {
  if (progress === undefined) return `${afterS.toFixed(0)} s`;
  const { plannedS, sent, plannedRequests } = progress;
  const planned = formatCount(plannedRequests, "request");
  return `${afterS.toFixed(0)} of ${formatNumber(plannedS)} s, ${formatNumber(sent)} of ${planned}`;
}

/** Interval between two evaluations of the thresholds that end a load, ms. */
const EVALUATION_MS = 1_000;
/** Evaluations in a row that must cross the same threshold: of many, a few cross it by chance. */
const CROSSINGS_TO_ABORT = 4;

const ON_TIME: LoadRun["generator"] = { ...UNMEASURED, valid: true, problems: [] };

interface MeasuredSoFar {
  readonly name: string;
  readonly tally: Tally;
  readonly outcomes: OutcomeCounts;
  /** Seconds since the start of the measurement. */
  readonly elapsedS: () => number;
}

/** Judges thresholds by what a running load has measured so far; nothing before the first request has ended. */
export function judgeSoFar(
  thresholds: readonly Pick<WorkloadThreshold, "threshold">[],
  { name, tally, outcomes, elapsedS }: MeasuredSoFar,
): Finding[] {
  if (tally.total.sent === 0) return [];
  const facts = { title: name, tally, outcomes, startS: 0, durationS: elapsedS(), peakInFlight: 0, connections: 0 };
  const phase = phaseRecord({ name, ...facts, findings: [], questions: [] });
  // Requests in flight are neither met nor missed yet, and no share may count them as missed.
  const { admitted, denied, failed, invalid, dropped } = phase;
  const run = runOf(name, { ...phase, offered: admitted + denied + failed + invalid + dropped });
  return thresholds.map(({ threshold }) => judgeThreshold(run, threshold));
}

/** Ends a load through its guard as soon as a threshold with `abortOnFail` is crossed in several evaluations in a row. */
export function watchThresholds(
  thresholds: readonly WorkloadThreshold[] | undefined,
  { guard, ...measured }: MeasuredSoFar & { readonly guard: LoadGuard },
): Disposable {
  const aborting = (thresholds ?? []).filter(({ abortOnFail }) => abortOnFail);
  if (aborting.length === 0) return { [Symbol.dispose]: () => undefined };
  const crossings = new Map<string, number>();
  const evaluate = () => {
    const durationS = measured.elapsedS();
    const due = aborting.filter(({ delayAbortEvalS }) => delayAbortEvalS <= durationS);
    if (due.length === 0) return;
    for (const judged of judgeSoFar(due, measured)) {
      const inARow = judged.outcome === "broken" ? (crossings.get(judged.name) ?? 0) + 1 : 0;
      crossings.set(judged.name, inARow);
      if (inARow >= CROSSINGS_TO_ABORT)
        guard.endByThreshold({ threshold: judged.name, figure: describeFacts(judged), afterS: durationS });
    }
  };
  const evaluating = setInterval(evaluate, EVALUATION_MS);
  return { [Symbol.dispose]: () => clearInterval(evaluating) };
}

function runOf(name: string, phase: JudgedPhase): LoadRun {
  return {
    ...{ name, kind: "workload", engine: "native", limits: null, keys: [], workload: null, retryAfter: null },
    ...{ startedAt: new Date(0).toISOString(), durationS: phase.durationS, phases: [phase], generator: ON_TIME },
  };
}

/** Counts of which an engine reports running totals. */
const OF_TOTALS = ["sent", "admitted", "denied", "failed"] as const;

/**
 * Checks that an engine which only reports running totals can end a load by these thresholds.
 *
 * @throws UsageError otherwise.
 */
export function assertDecidableByTotals(thresholds: readonly WorkloadThreshold[] | undefined, engine: string): void {
  for (const { threshold, abortOnFail } of thresholds ?? []) {
    if (!abortOnFail || canDecide(threshold)) continue;
    throw new UsageError(`abortOnFail of "${threshold.text}" needs the native engine: ${engine} only reports counts`, {
      hint: `With ${engine}, abortOnFail works for upper bounds of ${OF_TOTALS.join(", ")}, and for admitted_share, denied_share and failed_share. Omit it, or use the native engine.`,
    });
  }
}

/** Running totals cannot decide a minimum count early: it may still be reached. */
function canDecide(threshold: Threshold): boolean {
  const { metric, operator } = threshold;
  return totalOf(threshold) !== undefined && (operator.startsWith("<") || metric.endsWith("_share"));
}

/** Confidence of a share that is evaluated many times. */
const CONFIDENCE = 0.999;

function totalOf({ metric, labels }: Threshold): (typeof OF_TOTALS)[number] | undefined {
  return Object.keys(labels).length > 0
    ? undefined
    : OF_TOTALS.find((name) => metric === name || metric === `${name}_share`);
}

/** Ends a load through its guard if running totals cross a threshold with `abortOnFail` for certain. */
export function endIfCrossed(
  thresholds: readonly WorkloadThreshold[] | undefined,
  guard: LoadGuard,
  totals: LoadTotalsSoFar & { readonly denied: number; readonly elapsedS: number },
): void {
  const ended = totals.admitted + totals.denied + totals.failed;
  for (const { threshold, abortOnFail, delayAbortEvalS } of thresholds ?? []) {
    const name = totalOf(threshold);
    const { operator, bound, metric, text: written } = threshold;
    if (!abortOnFail || name === undefined || bound.kind !== "number" || totals.elapsedS < delayAbortEvalS) continue;
    if (ended === 0) continue;
    const { low, high } = wilson({ count: totals[name], of: ended }, CONFIDENCE);
    const [least, most] = metric.endsWith("_share") ? [low, high] : [totals[name], Number.POSITIVE_INFINITY];
    if (operator.startsWith("<") ? least > bound.value : most < bound.value)
      guard.endByThreshold({
        threshold: written,
        figure: `${formatNumber(totals[name])} of ${formatNumber(ended)}`,
        afterS: totals.elapsedS,
      });
  }
}
