/** Keys by the state they are in, in the order of reports. `valid` is no state: everything starts from it. */
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

/** The closed catalogue of states that checks need, and that a target file may declare a gap for. */
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
