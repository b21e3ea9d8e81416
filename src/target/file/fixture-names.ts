/** Keys by their state, in the order of reports. `valid` is not a state: it is the starting point. */
const KEY_STATES = [
  "second",
  "revoked",
  "capped",
  "cappable",
  "childExhausted",
  "childSmall",
  "empty",
  "emptySecond",
  "other",
] as const;

const MODEL_STATES = [
  "stream",
  "slow",
  "tools",
  "images",
  "structured",
  "echo",
  "upstreamError",
  "upstreamTimeout",
  "cutStream",
] as const;

/** The closed catalogue of states that checks need, and for which a target file may declare a gap. */
export const STATES = [
  ...KEY_STATES.map((name) => `key.${name}` as const),
  ...MODEL_STATES.map((name) => `model.${name}` as const),
  "limits",
  "limited.rate",
  "limited.rate.second",
  "limited.concurrency",
  "limited.concurrency.second",
  "upstream",
  "upstream.failover",
] as const;

export type State = (typeof STATES)[number];
