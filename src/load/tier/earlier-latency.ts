import { groupBy, median } from "../../core/index.ts";
import type { Observation } from "../../judging/index.ts";
import { isLong, serviceMs } from "./observations.ts";

/** Requests of a phase from which on their median says what is usual. */
const LEAST = 2;
/** Of a kind that no phase before has had, such as denials, its first requests of the phase say it: so many, half of them at most. */
const FIRST = 8;

/** Those that are alike: how long a denial takes says nothing of a reply. */
const kindOf = (one: Observation): string =>
  `${one.outcome} ${one.outcome === "denied" ? one.what : ""} ${one.dialect} ${one.stream} ${isLong(one)}`;

/**
 * What a request of some kind took in the phases before its own: the lowest of their medians, which nothing that happens in its
 * own phase, and nothing that happened in one of several others, can move.
 */
export class EarlierLatency {
  /** By kind: the durations of each phase in the order of sending, phases in their order, ms. */
  readonly #kinds = new Map<string, Map<string, number[]>>();
  readonly #usual = new Map<string, number | undefined>();

  /** @param all everything that the run sent so far. */
  constructor(all: readonly Observation[]) {
    const answered = all.filter(({ outcome }) => outcome === "admitted" || outcome === "denied");
    const ordered = answered.sort((a, b) => a.sentUs - b.sentUs);
    for (const [kind, own] of groupBy(ordered, kindOf)) {
      const phases = [...groupBy(own, ({ phase }) => phase)];
      this.#kinds.set(kind, new Map(phases.map(([phase, some]) => [phase, some.map(serviceMs)])));
    }
  }

  /** `undefined`: nothing is known of its kind before. */
  usualMs(one: Observation): number | undefined {
    const kind = kindOf(one);
    const key = `${kind} ${one.phase}`;
    if (!this.#usual.has(key)) this.#usual.set(key, this.#usualIn(kind, one.phase));
    return this.#usual.get(key);
  }

  #usualIn(kind: string, phase: string): number | undefined {
    const phases = [...(this.#kinds.get(kind) ?? [])];
    const at = phases.findIndex(([name]) => name === phase);
    const earlier = phases.slice(0, Math.max(0, at)).filter(([, own]) => own.length >= LEAST);
    if (earlier.length > 0) return Math.min(...earlier.map(([, own]) => median(own)));
    const own = phases[at]?.[1] ?? [];
    const first = own.slice(0, Math.min(FIRST, Math.floor(own.length / 2)));
    return first.length < LEAST ? undefined : median(first);
  }
}
