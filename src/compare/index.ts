export { assertEnoughPairs, compareLive } from "./compare-live.ts";
export { compareStored, judgedMetrics, type StoredSide } from "./compare-stored.ts";
export { countsOf } from "./counts.ts";
export type { Behaviour, ComparedResponse } from "./drift.ts";
export { type Block, LATENCY_MARGINS, mayHideRegression } from "./judge-metrics.ts";
export { TOKENS_PER_REPLY } from "./reply-lengths.ts";
export { placeOf, shareName } from "./stored-metrics.ts";
