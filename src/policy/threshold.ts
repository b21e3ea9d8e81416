import { nearestOf } from "../core/index.ts";
import { valueProblem } from "./label-values.ts";
import { DIFFERENCE_STATS, STATS, type Stat } from "./metric.ts";
import { isMetricName, METRIC_NAMES, type MetricName, metricOf } from "./metrics.ts";

export type Operator = "<" | "<=" | ">" | ">=" | "==";

/** The bound of a threshold: a number, or the baseline's figure times `factor` plus `offset`. */
export type Bound =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "baseline"; readonly factor: number; readonly offset: number };

/** A parsed threshold such as `ttft_ms{tier=growth,stream=true} p99 < 800`. */
export interface Threshold {
  readonly text: string;
  readonly metric: MetricName;
  readonly labels: Readonly<Record<string, string>>;
  /** Absent for figures that are not distributions. */
  readonly stat: Stat | undefined;
  readonly operator: Operator;
  readonly bound: Bound;
}

const FORM = /^\s*([a-z_.]+)\s*(?:\{([^{}]*)\})?\s*(?:([a-z][\w.]*(?:\([\d.]+\))?)\s*)?(<=|>=|==|<|>)\s*(.+?)\s*$/;
/** A percentile as other tools write it: `p99.9`, `p(95)`. */
const OTHER_PERCENTILE = /^p\(?(50|90|95|99|99\.9)(?:\.0+)?\)?$/;
const NUMBER = "[+-]?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?";
const PLAIN = new RegExp(`^${NUMBER}$`, "i");
const PERCENT = new RegExp(`^(${NUMBER})\\s*%$`, "i");
const RELATIVE = new RegExp(`^baseline(?:\\s*\\*\\s*(${NUMBER}))?(?:\\s*([+-])\\s*(\\d+(?:\\.\\d+)?))?$`, "i");

/**
 * Parses a threshold: `metric{label=value,…} stat operator bound`. The bound is a number, a percentage, or `baseline`,
 * `baseline * 1.1`, `baseline * 1.1 + 5`. With a percentage, a count stands for its share: `failed < 0.5 %`.
 *
 * @returns the threshold, or a text that says why it is invalid.
 */
export function parseThreshold(text: string): Threshold | string {
  const match = FORM.exec(text);
  if (match === null) return "is not a threshold; expected for example `ttft_ms{stream=true} p99 < 800`";
  const [, written = "", labelText, writtenStat, operator, boundText = ""] = match;
  const stat = writtenStat?.replace(OTHER_PERCENTILE, (_, digits: string) => `p${digits.replace(".", "")}`);
  const isPercent = PERCENT.test(boundText);
  const name = isPercent && isMetricName(`${written}_share`) ? `${written}_share` : written;
  if (!isMetricName(name)) {
    const meant = meantMetric(name);
    return `has the unknown metric "${name}"${meant === "" ? "; metrics:" : `${meant} Metrics:`} ${METRIC_NAMES.join(", ")}`;
  }
  const metric = metricOf(name);
  const labels = parseLabels(labelText ?? "", metric.labels);
  if (typeof labels === "string") return labels;
  if (metric.kind === "distribution" || metric.kind === "difference") {
    const stats = metric.kind === "distribution" ? STATS : DIFFERENCE_STATS;
    if (stat === undefined) return `needs a statistic after "${name}": one of ${stats.join(", ")}`;
    if (!stats.some((known) => known === stat))
      return `has the unknown statistic "${writtenStat}"; expected one of ${stats.join(", ")}`;
  } else if (stat !== undefined) {
    return `has the statistic "${writtenStat}", but "${name}" is one figure`;
  }
  if (isPercent && metric.kind !== "share") return `has the bound "${boundText}", but "${name}" is not a share`;
  const bound = parseBound(boundText);
  if (bound === undefined) {
    return `has the bound "${boundText}"; expected a number, a percentage, \`baseline * 1.1\`, or \`baseline * 1.1 + 5\``;
  }
  return {
    text: canonical(written, labels, stat, operator as Operator, boundText),
    metric: name,
    labels,
    stat: stat as Stat | undefined,
    operator: operator as Operator,
    bound,
  };
}

/** `ttft` is the beginning of `ttft_ms`, which is too short a word to be similar to it. */
function meantMetric(name: string): string {
  return meant(METRIC_NAMES.find((known) => known.startsWith(`${name}_`)) ?? nearestOf(name, METRIC_NAMES));
}

const meant = (name: string | undefined): string => (name === undefined ? "" : `. Did you mean "${name}"?`);

function parseLabels(text: string, known: readonly string[]): Record<string, string> | string {
  const labels: Record<string, string> = {};
  for (const part of text.split(",").filter((piece) => piece.trim() !== "")) {
    const match = /^\s*(\w+)\s*=\s*"?([^"]*?)"?\s*$/.exec(part);
    if (match === null) return `has "${part.trim()}" among its labels; expected name=value`;
    const [, label = "", value = ""] = match;
    if (!known.includes(label))
      return `has the label "${label}"; this metric has ${known.join(", ") || "none"}${meant(nearestOf(label, known))}`;
    if (Object.hasOwn(labels, label)) return `has the label "${label}" twice`;
    const problem = valueProblem(label, value);
    if (problem !== undefined) return problem;
    labels[label] = value;
  }
  return labels;
}

function parseBound(text: string): Bound | undefined {
  if (PLAIN.test(text)) return { kind: "number", value: Number(text) };
  const [, percent] = PERCENT.exec(text) ?? [];
  if (percent !== undefined) return { kind: "number", value: Number(percent) / 100 };
  const match = RELATIVE.exec(text);
  if (match === null) return undefined;
  const [, factor = "1", sign = "+", offset = "0"] = match;
  return { kind: "baseline", factor: Number(factor), offset: sign === "-" ? -Number(offset) : Number(offset) };
}

/** One spelling for the same meaning, so that duplicates are found however they are written. */
function canonical(
  name: string,
  labels: Readonly<Record<string, string>>,
  stat: string | undefined,
  operator: Operator,
  bound: string,
): string {
  const listed = Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, value]) => `${label}=${value}`);
  const scope = listed.length === 0 ? "" : `{${listed.join(",")}}`;
  return [`${name}${scope}`, ...(stat === undefined ? [] : [stat]), operator, bound.replace(/\s+/g, " ")].join(" ");
}

/** The subject of a threshold, without its bound: of two thresholds with the same subject, the later would override the other. */
export function subjectOf({ metric, labels, stat, operator }: Threshold): string {
  const direction = operator.startsWith("<") ? "<" : operator.startsWith(">") ? ">" : "==";
  return canonical(metric, labels, stat, direction, "").trim();
}
