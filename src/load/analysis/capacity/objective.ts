import { UsageError } from "../../../core/index.ts";
import type { LatencyFigure } from "../../../metrics/index.ts";
import { longestOf } from "../../workload/lengths.ts";
import type { Workload } from "../../workload/workload.ts";

/** Latencies by the names that users write, with the names of their histograms. */
export const FIGURES = {
  response_ms: "response",
  service_ms: "service",
  ttft_ms: "ttft",
  ttft_text_ms: "textTtft",
  event_gap_ms: "eventGap",
  itl_ms: "itl",
  per_token_ms: "perToken",
} as const;
export const QUANTILES = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 } as const;
export type LatencyName = keyof typeof FIGURES;
export type QuantileName = keyof typeof QUANTILES;
const SHARES = ["failed", "denied", "dropped"] as const;

/** One comparison in an objective. */
export type Clause =
  | {
      readonly kind: "quantile";
      readonly text: string;
      /** Name in the histograms of a run, e.g. `ttft`. */
      readonly figure: (typeof FIGURES)[LatencyName];
      readonly quantile: number;
      readonly name: QuantileName;
      readonly belowMs: number;
    }
  | {
      readonly kind: "share";
      readonly text: string;
      readonly of: (typeof SHARES)[number];
      /** Between 0 and 1, as a share of the offered requests. */
      readonly below: number;
    };

const QUANTILE = /^([a-z_]+)\s+(p\d+)\s*<=?\s*(\d+(?:\.\d+)?)$/;
const SHARE = /^([a-z]+)\s*<=?\s*(\d+(?:\.\d+)?)\s*(%?)$/;

/**
 * Parses an objective such as `ttft_ms p99 < 800, failed < 0.1%`. Failed, denied and dropped requests default to at most 0.1 %: a
 * rate at which requests are not served is not a capacity.
 *
 * @throws UsageError if it cannot be parsed.
 */
export function parseObjective(text: string): readonly Clause[] {
  const clauses = text.split(",").map((part) => parseClause(part.trim()));
  const named = new Set(clauses.map((clause) => (clause.kind === "share" ? clause.of : clause.figure)));
  const silent = (["failed", "denied", "dropped"] as const).filter((share) => !named.has(share));
  return [...clauses, ...silent.map((of) => ({ kind: "share" as const, text: `${of} < 0.1%`, of, below: 0.001 }))];
}

type ObjectiveClause =
  | { readonly kind: "quantile"; readonly text: string; readonly figure: LatencyFigure }
  | Extract<Clause, { kind: "share" }>;

/** Only streams have these; some are measured between tokens. */
const OF_STREAMS: readonly string[] = ["ttft", "textTtft", "eventGap", "itl", "perToken", "firstEvent", "longestStall"];
const BETWEEN_TOKENS: readonly string[] = ["eventGap", "itl", "perToken"];

/**
 * Checks that a mix of requests can produce every figure of an objective.
 *
 * @throws UsageError for a latency that none of its requests has: the search would report a capacity of 0.
 */
export function assertMeasurable(clauses: readonly ObjectiveClause[], mix: Workload["mix"]): void {
  const streams = mix.filter(({ stream }) => stream);
  for (const clause of clauses) {
    if (clause.kind === "share" || !OF_STREAMS.includes(clause.figure)) continue;
    if (streams.length === 0)
      throw new UsageError(
        `"${clause.text}" cannot be measured: it applies only to streams, and no request in the mix is a stream`,
        {
          hint: "Use a workload whose mix has `stream: true` (with `gauntlet capacity`, add --streams), or an objective on response_ms.",
        },
      );
    if (BETWEEN_TOKENS.includes(clause.figure) && streams.every(({ maxTokens }) => longestOf(maxTokens) < 2))
      throw new UsageError(`"${clause.text}" cannot be measured: no stream of the mix has two tokens`, {
        hint: "Raise maxTokens in the mix of the workload file.",
      });
  }
}

function parseClause(text: string): Clause {
  const quantile = QUANTILE.exec(text);
  if (quantile !== null) {
    const [, name = "", at = "", bound = ""] = quantile;
    if (Object.hasOwn(FIGURES, name) && Object.hasOwn(QUANTILES, at)) {
      return {
        kind: "quantile",
        text,
        figure: FIGURES[name as keyof typeof FIGURES],
        quantile: QUANTILES[at as QuantileName],
        name: at as QuantileName,
        belowMs: Number(bound),
      };
    }
  }
  const share = SHARE.exec(text);
  const of = SHARES.find((name) => name === share?.[1]);
  if (share !== null && of !== undefined) {
    return { kind: "share", text, of, below: Number(share[2]) / (share[3] === "%" ? 100 : 1) };
  }
  throw new UsageError(`"${text}" is not a clause of an objective`, {
    hint: `For example "ttft_ms p99 < 800, failed < 0.1%". Figures: ${Object.keys(FIGURES).join(", ")}; at ${Object.keys(QUANTILES).join(", ")}; shares: ${SHARES.join(", ")}.`,
  });
}
