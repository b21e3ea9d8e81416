import type { ComparedMetric } from "../record/index.ts";

/** Suffix of the metric of a class. The latencies of the class have the same prefix. */
export const TOKENS_PER_REPLY = "tokens_per_reply";

/** Replies whose mean lengths differ by less than this count as the same amount of work. */
const SAME_WORK = 0.1;

/**
 * Latencies are comparable only if both builds sent replies of about the same length: a build that sends a sixteenth of the tokens is
 * faster but not better. Makes improvements inconclusive if shorter or longer replies may explain them, and regressions of the response
 * time if longer replies may.
 */
export function adjustForLengths(metrics: readonly ComparedMetric[]): ComparedMetric[] {
  const lengths = new Map(metrics.filter(({ unit }) => unit === "tokens").map((metric) => [metric.name, metric]));
  return metrics.map((metric) => {
    if (metric.unit !== "ms") return metric;
    const why = whyNotComparable(metric, lengths.get(`${classOf(metric.name)} ${TOKENS_PER_REPLY}`));
    return why === undefined ? metric : { ...metric, verdict: "inconclusive", why };
  });
}

/** `chat streaming` of `chat streaming ttft_ms p95`. */
function classOf(name: string): string {
  return name.replace(/ \w+_ms \w+$/, "");
}

function whyNotComparable({ name, verdict }: ComparedMetric, length: ComparedMetric | undefined): string | undefined {
  const [a, b] = [length?.a ?? 0, length?.b ?? 0];
  const change = a > 0 ? b / a - 1 : 0;
  const lengths = `the replies have ${b.toFixed(1)} output tokens instead of ${a.toFixed(1)}: not comparable`;
  if (verdict === "regressed") return name.includes("response_ms") && change > SAME_WORK ? lengths : undefined;
  if (verdict !== "improved") return undefined;
  if (a === 0) return "the output tokens of the replies are not known, and shorter replies are faster as well";
  return Math.abs(change) > SAME_WORK ? lengths : undefined;
}
