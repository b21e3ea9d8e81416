import { UsageError } from "../../core/index.ts";
import { finding } from "../../judging/index.ts";
import type { Finding } from "../../record/index.ts";
import { FIGURES, type LatencyName, QUANTILES, type QuantileName } from "../analysis/capacity/objective.ts";
import type { QuantileEstimate } from "../measure/class-tally.ts";
import type { Tally } from "../measure/tally.ts";
import type { Workload } from "../workload/workload.ts";
import { ARRIVAL_KINDS, kindOf } from "./arrivals.ts";

/** A quantile that determines the length of a load: it ends when the quantile is known precisely enough. */
export interface Until {
  readonly kind: "quantile";
  readonly text: string;
  readonly figure: (typeof FIGURES)[LatencyName];
  readonly quantile: QuantileName;
  /** Half of the interval's width, as a share of the value. */
  readonly withinShare: number;
}

const FORM = /^\s*([a-z_]+)\s+(p\d+)\s+within\s+(\d+(?:\.\d+)?)\s*%\s*$/;
/** Kinds of arrivals that may end at any time. */
const UNIFORM = Object.entries(ARRIVAL_KINDS).flatMap(([name, { lasting }]) => (lasting === undefined ? [] : [name]));
/** It must be known better by this factor when checked: requests still in flight change the figure slightly. */
const MARGIN = 0.95;
/** Required consecutive checks: because neighbouring values are correlated, one check may succeed by chance. */
const LOOKS = 5;

/**
 * Parses `ttft_ms p99 within 5%`.
 *
 * @throws UsageError if it cannot be parsed.
 */
export function parseUntil(text: string): Until {
  const [, name = "", quantile = "", percent = ""] = FORM.exec(text) ?? [];
  const isKnown = Object.hasOwn(FIGURES, name) && Object.hasOwn(QUANTILES, quantile);
  const withinShare = Number(percent) / 100;
  if (isKnown && withinShare > 0 && withinShare <= 1)
    return {
      kind: "quantile",
      text: `${name} ${quantile} within ${percent}%`,
      figure: FIGURES[name as LatencyName],
      quantile: quantile as QuantileName,
      withinShare,
    };
  throw new UsageError(`--until takes a figure, a quantile and a precision, not "${text}"`, {
    hint: `For example --until 'ttft_ms p99 within 5%'. Figures: ${Object.keys(FIGURES).join(", ")}; at ${Object.keys(QUANTILES).join(", ")}; within more than 0 and at most 100 %.`,
  });
}

/** Detects when the quantile is known. Called about once a second: each call takes a few milliseconds. */
export class UntilKnown {
  readonly #until: Until;
  readonly #classes: number;
  readonly #known = new AbortController();
  #looks = 0;

  constructor(until: Until, { mix }: Pick<Workload, "mix">) {
    this.#until = until;
    const streamsOnly = !["response", "service"].includes(until.figure);
    const kinds = mix.filter(({ stream }) => stream || !streamsOnly);
    this.#classes = new Set(kinds.map(({ dialect, stream }) => `${dialect} ${stream}`)).size;
  }

  /** Fires when it is known. */
  get signal(): AbortSignal {
    return this.#known.signal;
  }

  look(tally: Tally): void {
    const worst = this.#worst(tally);
    this.#looks = worst?.share !== undefined && worst.share <= this.#until.withinShare * MARGIN ? this.#looks + 1 : 0;
    if (this.#looks >= LOOKS) this.#known.abort();
  }

  /** Of all kinds of requests, the one that is known least precisely; `undefined` while one of them has no value. */
  #worst(tally: Tally): QuantileEstimate | undefined {
    const known = tally.known(this.#until.figure, this.#until.quantile);
    if (known.length < this.#classes) return undefined;
    return known.sort((a, b) => (b.share ?? Number.POSITIVE_INFINITY) - (a.share ?? Number.POSITIVE_INFINITY))[0];
  }

  /** The finding, over everything that was counted. */
  judge(tally: Tally): Finding {
    const [name, title] = ["load.until", "The figure is as precise as requested"] as const;
    const { text, withinShare } = this.#until;
    const worst = this.#worst(tally);
    const within = `±${Number((withinShare * 100).toPrecision(6))} %`;
    if (worst === undefined)
      return finding({
        name,
        title,
        requirements: [],
        undecided: `${text}: a kind of request has no value`,
        basis: "timing",
      });
    const { kind, count, ms, share, low, high } = worst;
    if (share === undefined || low === undefined || high === undefined)
      return finding({
        name,
        title,
        requirements: [],
        undecided: `${text}: ${count} values of ${kind} do not support an interval`,
        basis: "timing",
      });
    const observed = `${ms.toFixed(1)} ms, ${low.toFixed(1)} to ${high.toFixed(1)} (±${(share * 100).toFixed(1)} %), ${count} values of ${kind}`;
    return share <= withinShare
      ? finding({ name, title, requirements: [], met: true, expected: within, observed, basis: "timing" })
      : finding({
          name,
          title,
          requirements: [],
          undecided: `${text}: ${observed}; that is wider than ${within}`,
          basis: "timing",
        });
  }
}

/**
 * The workload with its time bound: at most this many seconds, or its own duration.
 *
 * @throws UsageError for a load that is not uniform.
 */
export function boundedBy(workload: Workload, atMostS: number | undefined): Workload {
  const { arrivals, name, engine, tier } = workload;
  if (arrivals !== undefined && tier === undefined && engine === "native") {
    const bounded = kindOf(arrivals).lasting?.(arrivals, atMostS);
    if (bounded !== undefined) return { ...workload, arrivals: bounded };
  }
  const what = tier === undefined ? `${arrivals?.kind} arrivals, sent by ${engine}` : "the phases of a tier";
  throw new UsageError(`--until needs uniform load, and ${name} has ${what}`, {
    hint: `Name a workload file with ${new Intl.ListFormat("en-GB", { type: "disjunction" }).format(UNIFORM)} arrivals and the native engine.`,
  });
}
