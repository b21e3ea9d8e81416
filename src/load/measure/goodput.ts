import type { LoadExchange } from "../../http/load-client/index.ts";
import type { Outcome } from "../../judging/index.ts";
import type { JudgedPhase } from "../../record/index.ts";
import { ttftUs } from "./ttft.ts";

/** Figures of a single request, µs; `undefined` if not applicable, `Infinity` if missing. */
const FIGURES = {
  response_ms: ({ dueUs, endUs }: LoadExchange) => endUs - dueUs,
  service_ms: ({ sentUs, endUs }: LoadExchange) => endUs - sentUs,
  ttft_ms: (exchange: LoadExchange) =>
    exchange.prepared.stream ? (ttftUs(exchange) ?? Number.POSITIVE_INFINITY) : undefined,
  event_gap_ms: ({ prepared, longestGapUs }: LoadExchange) => (prepared.stream ? longestGapUs : undefined),
  per_token_ms: ({ outputTokens, firstTokenUs, lastTokenUs }: LoadExchange) =>
    firstTokenUs > 0 && outputTokens > 1 ? (lastTokenUs - firstTokenUs) / (outputTokens - 1) : undefined,
} as const;

type FigureName = keyof typeof FIGURES;

export const OBJECTIVE_FIGURES = Object.keys(FIGURES) as FigureName[];

/** An objective for single requests. */
export interface RequestObjective {
  readonly text: string;
  readonly figure: FigureName;
  readonly belowMs: number;
}

const OBJECTIVE = /^([a-z_]+)\s*<\s*(\d+(?:\.\d+)?)$/;
/** Figures that only streams have. */
const OF_STREAMS: readonly FigureName[] = ["ttft_ms", "event_gap_ms", "per_token_ms"];

export const OBJECTIVE_FORM = `expected a figure and its bound, as "ttft_ms < 300"; figures: ${OBJECTIVE_FIGURES.join(", ")}`;

/** @returns `undefined` if the text is not an objective for single requests. */
export function requestObjective(text: string): RequestObjective | undefined {
  const [, name = "", bound] = OBJECTIVE.exec(text.trim()) ?? [];
  if (!Object.hasOwn(FIGURES, name)) return undefined;
  return { text: text.trim(), figure: name as FigureName, belowMs: Number(bound) };
}

/** Whether an objective refers to figures that only streams have. */
export function isOfStreams(text: string): boolean {
  const objective = requestObjective(text);
  return objective !== undefined && OF_STREAMS.includes(objective.figure);
}

/** What a worker reports. */
export interface StoredGoodput {
  readonly met: readonly number[];
  readonly requests: number;
  readonly tokens: number;
  readonly uncounted: number;
}

/** Counts the admitted requests that met every objective, and their output tokens. */
export class GoodputTally {
  readonly #objectives: readonly RequestObjective[];
  readonly #met: number[];
  #requests = 0;
  #tokens = 0;
  /** Requests that met all objectives but whose reply does not report its number of tokens. */
  #uncounted = 0;

  constructor(objectives: readonly RequestObjective[]) {
    this.#objectives = objectives;
    this.#met = objectives.map(() => 0);
  }

  /** @returns whether it met all objectives. */
  ended(exchange: LoadExchange, outcome: Outcome): boolean {
    if (outcome !== "admitted") return false;
    let all = true;
    for (const [index, { figure, belowMs }] of this.#objectives.entries()) {
      const us = FIGURES[figure](exchange);
      // A figure that does not apply to a reply does not count against it.
      if (us === undefined || us < belowMs * 1_000) this.#met[index] = (this.#met[index] ?? 0) + 1;
      else all = false;
    }
    if (!all) return false;
    this.#requests++;
    if (exchange.knownTokens === undefined) this.#uncounted++;
    else this.#tokens += exchange.knownTokens;
    return true;
  }

  store(): StoredGoodput {
    return { met: this.#met, requests: this.#requests, tokens: this.#tokens, uncounted: this.#uncounted };
  }

  /** Adds another worker's counts for the same objectives. */
  merge({ met, requests, tokens, uncounted }: StoredGoodput): void {
    for (const [index, count] of met.entries()) this.#met[index] = (this.#met[index] ?? 0) + count;
    this.#requests += requests;
    this.#tokens += tokens;
    this.#uncounted += uncounted;
  }

  /** @param arrivals that were dropped or have ended. @returns what was counted; the caller adds the intervals. */
  close(durationS: number, arrivals: number): Omit<NonNullable<JudgedPhase["goodput"]>, "intervals"> {
    const perS = (count: number) => (durationS <= 0 ? 0 : count / durationS);
    const tokens = this.#uncounted > 0 ? null : this.#tokens;
    return {
      objectives: this.#objectives.map(({ text }, index) => ({ text, met: this.#met[index] ?? 0 })),
      requests: this.#requests,
      requestsPerS: perS(this.#requests),
      share: arrivals === 0 ? null : this.#requests / arrivals,
      tokens,
      tokensPerS: tokens === null ? null : perS(tokens),
    };
  }
}
