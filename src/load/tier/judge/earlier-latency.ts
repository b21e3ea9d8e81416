import { groupBy, median } from "../../../core/index.ts";
import type { Observation } from "../../../judging/index.ts";
import { isLong, serviceMs } from "../observations.ts";

/** Minimum number of requests in a phase for its median to count. */
const MIN_REQUESTS = 2;
/**
 * If no earlier phase has a kind, such as denials, its first requests in the phase set the usual latency: at most this many, and at most
 * half of them.
 */
const MAX_FIRST = 8;

/** Groups comparable requests: how long a denial takes says nothing about a reply. */
const kindOf = (one: Observation): string =>
  `${one.outcome} ${one.outcome === "denied" ? one.what : ""} ${one.dialect} ${one.stream} ${isLong(one)}`;

/**
 * The usual latency of a kind of request, from the phases before its own: the lowest of their medians. Nothing that happens in its own
 * phase, or in only one of several earlier phases, can change it.
 */
export class EarlierLatency {
  /** By kind: the durations of each phase in the order of sending, phases in their order, ms. */
  readonly #kinds = new Map<string, Map<string, number[]>>();
  readonly #usual = new Map<string, number | undefined>();

  /** @param all all requests that the run has sent so far. */
  constructor(all: readonly Observation[]) {
    const completed = all.filter(({ outcome }) => outcome === "admitted" || outcome === "denied");
    const ordered = completed.sort((a, b) => a.sentUs - b.sentUs);
    for (const [kind, own] of groupBy(ordered, kindOf)) {
      const phases = [...groupBy(own, ({ phase }) => phase)];
      this.#kinds.set(kind, new Map(phases.map(([phase, some]) => [phase, some.map(serviceMs)])));
    }
  }

  /** `undefined` if nothing is known about its kind. */
  usualMs(one: Observation): number | undefined {
    const kind = kindOf(one);
    const key = `${kind} ${one.phase}`;
    if (!this.#usual.has(key)) this.#usual.set(key, this.#usualIn(kind, one.phase));
    return this.#usual.get(key);
  }

  #usualIn(kind: string, phase: string): number | undefined {
    const phases = [...(this.#kinds.get(kind) ?? [])];
    const at = phases.findIndex(([name]) => name === phase);
    const earlier = phases.slice(0, Math.max(0, at)).filter(([, own]) => own.length >= MIN_REQUESTS);
    if (earlier.length > 0) return Math.min(...earlier.map(([, own]) => median(own)));
    const own = phases[at]?.[1] ?? [];
    const first = own.slice(0, Math.min(MAX_FIRST, Math.floor(own.length / 2)));
    return first.length < MIN_REQUESTS ? undefined : median(first);
  }
}
