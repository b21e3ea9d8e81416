import { describeChanges, describeFigure, groupDrift, importantFirst } from "../../reports/text/index.ts";
import { formatChange, formatCount, groupBy, UsageError } from "../core/index.ts";
import {
  type ComparedMetric,
  type Comparison,
  type ComparisonReason,
  checkChanges,
  worstStatus,
} from "../record/index.ts";
import { type Behaviour, driftBetween } from "./drift.ts";
import { type Block, isPrimary, judgeMetrics, mayHideRegression, type Pair, together } from "./judge-metrics.ts";
import { type BlockName, roundOrders } from "./pair-order.ts";
import { minPairsFor } from "./paired.ts";

export interface LiveOptions {
  readonly a: Comparison["a"];
  readonly b: Comparison["b"];
  /** Rounds; both builds and the control each run one block per round. */
  readonly pairs: number;
  /** For the order, the schedules, the prompts and the resampling. */
  readonly seed: number;
  /** How both sides and the control behaved in the conformance suites. */
  readonly behaviours: { readonly a: Behaviour; readonly b: Behaviour; readonly control: Behaviour };
  /** Runs a block. All blocks of a round share the seed: same schedule, same prompts. */
  readonly runBlock: (name: BlockName, round: number, seed: number) => Promise<Block>;
  readonly signal: AbortSignal;
}

/**
 * Checks that this number of pairs can reach a verdict at all.
 *
 * @throws UsageError otherwise: a session that can only end undecided is not started.
 */
export function assertEnoughPairs(pairs: number, figures: number): void {
  const minPairs = minPairsFor(figures);
  if (pairs >= minPairs) return;
  throw new UsageError(
    `${pairs} pairs cannot reach a verdict over ${figures} figures: the smallest p that they allow is ${(2 ** (1 - pairs)).toPrecision(2)}`,
    { hint: `Take at least --pairs ${minPairs}.` },
  );
}

/** A session in which both builds take turns. If interrupted, it ends as inconclusive with the data so far. */
export async function compareLive(options: LiveOptions): Promise<Comparison> {
  const { pairs, seed, signal, runBlock, behaviours } = options;
  const orders = roundOrders(pairs, seed);
  const rounds: Record<BlockName, Block>[] = [];
  for (const [round, order] of orders.entries()) {
    const blocks: Partial<Record<BlockName, Block>> = {};
    for (const name of order) {
      if (signal.aborted) break;
      blocks[name] = await runBlock(name, round, seed + round);
    }
    const { A: a, B: b, "A'": control } = blocks;
    // A block that was interrupted does not count.
    if (signal.aborted || a === undefined || b === undefined || control === undefined) break;
    rounds.push({ A: a, B: b, "A'": control });
  }
  const metrics =
    rounds.length < 2
      ? []
      : judgeMetrics(
          rounds.map(({ A: a, "A'": again, B: b }): Pair => ({ a: together(a, again), b })),
          seed,
        );
  const itself =
    rounds.length < 2
      ? []
      : judgeMetrics(
          rounds.map(({ A: a, "A'": b }): Pair => ({ a, b })),
          seed + 500_000,
        );
  return concluded(
    {
      kind: "live",
      a: options.a,
      b: options.b,
      seed,
      order: orders.slice(0, rounds.length).flat(),
      control: controlOf(
        itself,
        rounds.flatMap((round) => Object.values(round)),
      ),
      metrics,
      checks: checkChanges({
        before: worseOf(behaviours.a.checks, behaviours.control.checks),
        now: behaviours.b.checks,
      }),
      drift: driftBetween(behaviours.a, behaviours.b, behaviours.control),
    },
    behaviours.b.checks.length,
  );
}

/**
 * The worse status of each check in the two runs of the first build. A check that failed in one of them is not newly failing, one
 * that warned is not worse, and one that was undecided is not lost.
 */
function worseOf(first: readonly Ended[], again: readonly Ended[]): Map<string, Ended["status"]> {
  const later = new Map(again.map(({ id, status }) => [id, status]));
  return new Map(first.map(({ id, status }) => [id, worstStatus([status, later.get(id) ?? status])]));
}

type Ended = Behaviour["checks"][number];

/**
 * Share of blocks with a late generator above which the session is inconclusive. The control shows how much a busy machine
 * distorts the figures; a generator that is late most of the time measures itself.
 */
const MAX_LATE = 0.5;

function controlOf(metrics: Comparison["metrics"], blocks: readonly Block[]): NonNullable<Comparison["control"]> {
  const late = blocks.filter(({ problems }) => problems.length > 0);
  if (late.length > blocks.length * MAX_LATE) {
    const [first] = late.flatMap(({ problems }) => problems);
    return {
      fit: false,
      message: `This machine was too busy in ${late.length} of ${blocks.length} blocks (${first ?? ""}): their figures are not usable.`,
      metrics,
    };
  }
  const odd = metrics.filter(
    (metric) =>
      metric.verdict === "regressed" ||
      metric.verdict === "improved" ||
      (isPrimary(metric) && Math.abs(metric.change ?? 0) > metric.margin && excludesZero(metric)),
  );
  if (metrics.length === 0) return { fit: false, message: "The control is missing.", metrics };
  if (odd.length === 0) {
    return {
      fit: true,
      message: `The two runs of the first build show no significant difference beyond the margins${largestChange(metrics)}.`,
      metrics,
    };
  }
  const names = odd.map(({ name }) => describeFigure(name)).join("; ");
  return {
    fit: false,
    message: `The first build differs from itself in ${names}: this machine is not suitable for a comparison.`,
    metrics,
  };
}

/** `; the largest latency change is −11.7 % (event gap p99, chat streaming)`; empty if there is none. */
function largestChange(metrics: Comparison["metrics"]): string {
  const changed = metrics.flatMap(({ name, unit, change }) =>
    unit === "ms" && change !== null ? [{ name, change }] : [],
  );
  const [first, ...others] = changed;
  if (first === undefined) return "";
  const { name, change } = others.reduce(
    (most, one) => (Math.abs(one.change) > Math.abs(most.change) ? one : most),
    first,
  );
  return `; the largest latency change is ${formatChange(change)} (${describeFigure(name)})`;
}

function excludesZero({ low, high }: Comparison["metrics"][number]): boolean {
  return low !== null && high !== null && (low > 0 || high < 0);
}

/**
 * The verdict over a session. A new failure decides, whatever the figures say. Figures decide only with a control that shows how
 * much the session differs from itself, and only if both builds served something.
 *
 * @param checked number of check instances that were run on both builds.
 */
function concluded(found: Omit<Comparison, "verdict" | "reasons">, checked: number): Comparison {
  const { checks, control, metrics, drift } = found;
  const ordered = importantFirst(metrics);
  const by = (verdict: Comparison["verdict"]) => ordered.filter((metric) => metric.verdict === verdict);
  const open = ordered.filter(mayHideRegression);
  const isServed = metrics.some((metric) => isPrimary(metric) && metric.unit === "ms" && metric.a !== null);
  const isUsable = control?.fit === true && isServed;
  const named = (status: "fail" | "pass", some: readonly ComparedMetric[]) =>
    // Unusable figures are not reasons.
    isUsable
      ? some.map((metric) => ({
          ...{ status, text: `${describeFigure(metric.name)} ${metric.verdict} by ${percent(metric.change)}` },
          detail: "metrics" as const,
        }))
      : [];
  const undecided = (text: string): ComparisonReason => ({ status: "inconclusive", text });
  const failing = checks.newlyFailing.length + checks.vanished.length + checks.worse.length > 0;
  const verdict: Comparison["verdict"] = failing
    ? "regressed"
    : !isUsable
      ? "inconclusive"
      : by("regressed").length > 0
        ? "regressed"
        : open.length + checks.lost.length > 0
          ? "inconclusive"
          : by("improved").length > 0
            ? "improved"
            : "not worse";
  // A quantile that no block is long enough for is listed only if the verdict depends on it.
  const listed = open.filter(({ tooFewSamplesIn }) => verdict === "inconclusive" || tooFewSamplesIn !== "every block");
  const reasons: ComparisonReason[] = [
    ...(control?.fit === true ? [] : [undecided(control?.message ?? "The control is missing.")]),
    ...(isServed ? [] : [undecided("no latency could be compared: the builds admitted too little")]),
    ...describeChanges(checks),
    ...named("fail", by("regressed")),
    ...named("pass", by("improved")),
    ...sameResults(checks, checked),
    ...driftLine(drift).map((text) => ({ status: "observed" as const, text })),
    ...(isUsable ? undecidedLines(listed) : []).map(undecided),
  ];
  return { ...found, verdict, reasons };
}

/** Says that all checks had the same results on both builds, unless a check changed. */
function sameResults(checks: Comparison["checks"], checked: number): ComparisonReason[] {
  const { newlyFailing, vanished, worse, lost, other, fixed, added } = checks;
  const changed = [newlyFailing, vanished, worse, lost, other, fixed, added].flat();
  const isSame = checked > 0 && changed.length === 0;
  const text = `${formatCount(checked, "check instance")} had the same ${checked === 1 ? "result" : "results"} on both builds`;
  return isSame ? [{ status: "observed", text }] : [];
}

/** One line per reason: `too few samples in some blocks: E2E p95, chat streaming; TTFT p95, chat streaming`. */
function undecidedLines(metrics: readonly ComparedMetric[]): string[] {
  return [...groupBy(metrics, ({ why }) => why)].map(([why, some]) => {
    const names = some.map(({ name }) => describeFigure(name));
    return names.length === 1 ? `${names[0]}: ${why}` : `${why}: ${names.join("; ")}`;
  });
}

const MAX_NAMED_DRIFT = 5;

/** `the responses differ: header x-request-id, field /usage and 3 more`. */
function driftLine(drift: Comparison["drift"]): string[] {
  if (drift.length === 0) return [];
  const groups = groupDrift(drift);
  const names = [...new Set(groups.map(({ what }) => what))];
  const more = names.length > MAX_NAMED_DRIFT ? ` and ${names.length - MAX_NAMED_DRIFT} more` : "";
  return [`the responses differ: ${names.slice(0, MAX_NAMED_DRIFT).join(", ")}${more}`];
}

function percent(change: number | null): string {
  return change === null ? "?" : `${Math.abs(change * 100).toFixed(1)} %`;
}
