import { formatChange, formatCount, formatNumber, groupBy, withSign } from "../../src/core/index.ts";
import type { ComparedMetric, Comparison } from "../../src/record/index.ts";

const FIGURES: Readonly<Record<string, string>> = {
  response_ms: "E2E",
  ttft_ms: "TTFT",
  event_gap_ms: "event gap",
  tokens_per_reply: "output tokens per reply",
};

/** `starter steady chat streaming ttft_ms p95`: the load if there are several, the kind of request, the figure, the quantile. */
const OF_CLASS = /^(?:(.+) )?(\S+) (streaming|non-streaming) (\w+?)(?: (p\d+))?$/;
const OF_SHARE = /^(?:(.+) )?(\w+)_share$/;

/** What a figure is, and of which requests: `TTFT p95` of `chat streaming`. Names that a policy uses stay as they are. */
export function readFigure(name: string): { readonly what: string; readonly of: string | undefined } {
  const [, load, dialect, mode, figure = "", stat] = OF_CLASS.exec(name) ?? [];
  const label = FIGURES[figure];
  if (label !== undefined) return { what: listed(" ", label, stat), of: listed(", ", `${dialect} ${mode}`, load) };
  const [, where, outcome] = OF_SHARE.exec(name) ?? [];
  return outcome === undefined ? { what: name, of: undefined } : { what: `${outcome} requests`, of: where };
}

/** `TTFT p95, chat streaming` for `chat streaming ttft_ms p95`. */
export function describeFigure(name: string): string {
  const { what, of } = readFigure(name);
  return listed(", ", what, of);
}

const listed = (separator: string, ...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join(separator);

/** Whether a side has a value: a quantile of too few requests has none, and is not shown. */
export const isMeasured = ({ a, b }: ComparedMetric): boolean => a !== null || b !== null;

/** Whether the figures of a comparison say anything: a live one needs a control that does not differ from itself. */
export function areFiguresUsable({ control }: Pick<Comparison, "control">): boolean {
  return control?.fit !== false;
}

const HEADS: Readonly<Record<Comparison["verdict"], (a: string, b: string) => string>> = {
  regressed: (a, b) => `${b} is worse than ${a}`,
  improved: (a, b) => `${b} is better than ${a} and worse in nothing`,
  "not worse": (a, b) => `${b} is not worse than ${a}`,
  inconclusive: (a, b) => `Cannot tell whether ${b} is worse than ${a}`,
};

/** The comparison in one sentence: its verdict, and what is worse, undecided, better and equal. */
export function describeComparison(comparison: Comparison): string {
  const { a, b, verdict, checks, metrics, drift, reasons } = comparison;
  const isUsable = areFiguresUsable(comparison);
  const of = (one: ComparedMetric["verdict"]) =>
    isUsable ? importantFirst(metrics.filter((metric) => metric.verdict === one)) : [];
  // What no block is long enough for counts only if the verdict may depend on it.
  const open = of("inconclusive").filter(
    ({ tooFewSamplesIn }) => verdict === "inconclusive" || tooFewSamplesIn !== "every block",
  );
  const worse = [
    ...counted(checks.newlyFailing.length, "check instance newly fails", "check instances newly fail"),
    ...counted(checks.vanished.length, "check instance is missing", "check instances are missing"),
    ...counted(checks.worse.length, "check instance newly warns", "check instances newly warn"),
    ...changed("regressed", of("regressed")),
  ];
  const undecided = [
    ...counted(checks.lost.length, "check instance is no longer decided", "check instances are no longer decided"),
    ...counted(open.length, "figure is undecided", "figures are undecided").map((text) => text + sharedReason(open)),
  ];
  const [first] = reasons;
  // Reasons that are not counted here, such as a run that was cut short or the verdict of the second run.
  const isUnexplained = verdict === "inconclusive" ? undecided.length === 0 || !isUsable : worse.length === 0;
  const isBad = verdict === "inconclusive" || verdict === "regressed";
  const parts = [
    ...(isBad && isUnexplained && first !== undefined ? [first.text.replace(/\.$/, "")] : []),
    ...worse,
    ...changed("improved", of("improved")),
    ...counted(checks.fixed.length, "check instance is fixed", "check instances are fixed"),
    ...counted(of("not worse").length, "figure is not worse", "figures are not worse"),
    ...undecided,
    ...(isUsable ? [] : ["the figures are not usable"]),
    ...counted(groupDrift(drift).length, "difference in the responses", "differences in the responses"),
  ];
  const what = parts.length > 0 ? parts.join("; ") : "no check instance or figure changed";
  const head = HEADS[verdict](a.name, b.name);
  return `${head}: ${what}.`;
}

/** The reason of several undecided figures, if all have the same. */
function sharedReason(open: readonly ComparedMetric[]): string {
  const reasons = new Set(open.map(({ why }) => why));
  const [why = ""] = reasons;
  return open.length > 1 && reasons.size === 1 && why !== "" ? ` (${why})` : "";
}

function counted(count: number, one: string, many: string): string[] {
  return count === 0 ? [] : [formatCount(count, one, many)];
}

/** `E2E p50, chat streaming (+54.6 %) and 2 more figures regressed`. */
function changed(verdict: string, [first, ...more]: readonly ComparedMetric[]): string[] {
  if (first === undefined) return [];
  const others = more.length === 0 ? "" : ` and ${formatCount(more.length, "more figure")}`;
  return [`${describeFigure(first.name)} (${figureChange(first, first.change)})${others} ${verdict}`];
}

/** Latencies first, and among these the kinds that users notice first. */
export function importantFirst(metrics: readonly ComparedMetric[]): ComparedMetric[] {
  const kinds = Object.keys(FIGURES);
  const kindOf = (name: string) => kinds.findIndex((kind) => name.includes(` ${kind}`));
  const rank = ({ name, unit }: ComparedMetric) =>
    Number(unit !== "ms") * 10 + (kindOf(name) < 0 ? kinds.length : kindOf(name));
  return [...metrics].sort((one, other) => rank(one) - rank(other));
}

/** Maximum number of figures next to a verdict. */
const MAX_FIGURES = 3;

/**
 * The figures that decided, or the first ones; none if the figures are not usable. Two stored runs show too little of what is not worse.
 * Undecided figures that changed by more than their margins explain an undecided session.
 */
export function mainMetrics(comparison: Comparison): ComparedMetric[] {
  if (!areFiguresUsable(comparison)) return [];
  const order = ["regressed", "improved", "undecided beyond its margin", "not worse", "inconclusive"];
  const rank = ({ verdict, change, margin }: ComparedMetric) =>
    order.indexOf(
      verdict === "inconclusive" && Math.abs(change ?? 0) > margin ? "undecided beyond its margin" : verdict,
    );
  const isShown = ({ a, b, verdict }: ComparedMetric) =>
    a !== null && b !== null && (comparison.kind === "live" || verdict !== "not worse");
  const measured = comparison.metrics.filter(isShown);
  const sorted = importantFirst(measured).sort((one, other) => rank(one) - rank(other));
  return sorted.slice(0, MAX_FIGURES);
}

/** `E2E p50, chat streaming: 420.0 ms in old, 436.2 ms in new (+3.9 %, not worse)`. */
export function mainFigures(comparison: Comparison): string[] {
  const shown = mainMetrics(comparison);
  const rest = areFiguresUsable(comparison) ? comparison.metrics.filter((metric) => !shown.includes(metric)) : [];
  const more = (["regressed", "improved"] as const).flatMap((verdict) => {
    const count = rest.filter((metric) => metric.verdict === verdict).length;
    return count === 0 ? [] : [`and ${formatCount(count, "more figure")} ${verdict}`];
  });
  const lines = shown.map((metric) => {
    const { name, a, b, unit } = metric;
    const suffix = unit === "share" ? "" : ` ${unit}`;
    return `${describeFigure(name)}: ${figureValue(metric, a)}${suffix} in ${comparison.a.name}, ${figureValue(metric, b)}${suffix} in ${comparison.b.name} (${figureChange(metric, metric.change)}, ${figureVerdict(metric, comparison)})`;
  });
  return [...lines, ...more];
}

/** The verdict on one figure, as tables show it. */
export function figureVerdict({ verdict }: ComparedMetric, comparison: Comparison): string {
  if (!areFiguresUsable(comparison)) return "not usable";
  return verdict === "inconclusive" ? "undecided" : verdict;
}

/** A value in the unit of its figure, without the unit; shares in percent. */
export function figureValue({ unit }: ComparedMetric, value: number | null): string {
  if (value === null) return "–";
  return unit === "share" ? `${formatNumber(value * 100, 2)} %` : formatNumber(value, 1);
}

/** A change of a figure: `+3.9 %`, `×75.4`; of a share, `+1.2 points`. */
export function figureChange(metric: Pick<ComparedMetric, "unit">, value: number | null): string {
  if (value === null) return "–";
  return metric.unit === "share" ? inPercent(metric, value) : formatChange(value);
}

/** The ends of the interval of a change, both in percent or points. */
export function figureInterval(metric: ComparedMetric): readonly [string, string] | undefined {
  const { low, high } = metric;
  return low === null || high === null ? undefined : [inPercent(metric, low), inPercent(metric, high)];
}

/** The margin of a figure: `± 61.3 %`. */
export function figureMargin(metric: Pick<ComparedMetric, "unit" | "margin">): string {
  return metric.margin === 0 ? "–" : `± ${inPercent(metric, metric.margin).replace("+", "")}`;
}

const inPercent = ({ unit }: Pick<ComparedMetric, "unit">, change: number): string =>
  `${withSign(change, formatNumber(Math.abs(change * 100), 1))} ${unit === "share" ? "points" : "%"}`;

/** One difference in the responses, with every kind of response in which it was seen. */
interface DriftGroup {
  /** `header x-request-id`, `status (valid request)`, `error text`. */
  readonly what: string;
  readonly before: string;
  readonly now: string;
  /** Check instances, or kinds of response. */
  readonly where: readonly [string, ...string[]];
  readonly isByCheck: boolean;
  readonly isHeader: boolean;
}

/** What is compared for each check instance; all else is compared for each kind of response. */
const BY_CHECK: readonly Comparison["drift"][number]["kind"][] = ["status", "reason", "observed"];

/** Groups what differs in the responses: a header that every response lost is one difference, not one for each kind of response. */
export function groupDrift(drift: Comparison["drift"]): DriftGroup[] {
  const groups = groupBy(drift, ({ kind, what, before, now }) => JSON.stringify([kind, what, before, now]));
  return [...groups.values()].map((some) => {
    const [{ kind, what, before, now, where }, ...more] = some;
    const named = kind === "shape" ? `type of field ${what}` : `${kind} ${what}`;
    const places = [where, ...more.map((other) => other.where)];
    const isValid = (place: string) => place.includes(", valid request,");
    // Of several kinds of requests, the valid ones tell most.
    const [first = where, ...others] = [...places.filter(isValid), ...places.filter((place) => !isValid(place))];
    return {
      // `status (valid request)`, not `status status (valid request)`.
      what: what.split(" ").includes(kind) ? what : named,
      ...{ before, now, isHeader: kind === "header", isByCheck: BY_CHECK.includes(kind) },
      where: [first, ...others],
    };
  });
}
