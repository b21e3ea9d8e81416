import { MUTATIONS, VARIANTS } from "../../../src/reference-gateway/index.ts";
import { TIMING } from "./evaluate.ts";

/** Names of what one run verifies. */
export interface Sample {
  readonly mutations: readonly string[];
  readonly variants: readonly string[];
}

export function everything(): Sample {
  // Mutations that only the events of a workload reveal are covered by `npm run verify disturbance`.
  const shown = MUTATIONS.filter(({ shownByEvents }) => shownByEvents === undefined);
  return { mutations: shown.map(({ name }) => name), variants: VARIANTS.map(({ name }) => name) };
}

/** Mutations that take more than ten minutes: this one limits the key of all ordinary requests to 300 per minute. */
const TOO_LONG = ["load.tiers-mixed-up"];
/** Areas whose mutations cost a minute each. */
const SLOW = ["rate", "concurrency", "retry-after", "rate-headers", "load"];

/**
 * The part that fits into twenty minutes on two cores: areas in turn, so that each has its share.
 *
 * @param survivors known not to be detected by conformance runs (they need a load run): omitted.
 */
export function sample(survivors: readonly string[]): Sample {
  // What only shows in timing may be hidden by a busy machine; `--all` judges it, without a time limit.
  const seen = MUTATIONS.filter(
    ({ name, breaks, shownByEvents }) =>
      shownByEvents === undefined &&
      !survivors.includes(name) &&
      !TOO_LONG.includes(name) &&
      !breaks.every((requirement) => TIMING.includes(requirement)),
  );
  const slow = inTurn(
    seen.filter(({ area }) => SLOW.includes(area)),
    22,
  );
  const quick = inTurn(
    seen.filter(({ area }) => !SLOW.includes(area)),
    132,
  );
  // Every limiter and every framing of a stream; of the rest, areas in turn.
  const must = VARIANTS.filter(({ area }) => area === "limits" || area === "stream");
  const rest = inTurn(
    VARIANTS.filter((variant) => !must.includes(variant)),
    Math.max(0, 62 - must.length),
  );
  return {
    mutations: [...slow, ...quick].map(({ name }) => name),
    variants: [...must, ...rest].map(({ name }) => name),
  };
}

function inTurn<T extends { readonly area: string }>(all: readonly T[], count: number): T[] {
  const byArea = new Map<string, T[]>();
  for (const item of all) byArea.set(item.area, [...(byArea.get(item.area) ?? []), item]);
  const chosen: T[] = [];
  for (let round = 0; chosen.length < Math.min(count, all.length); round++)
    for (const items of byArea.values()) {
      const item = items[round];
      if (item !== undefined && chosen.length < count) chosen.push(item);
    }
  return chosen;
}
