export { assertEnoughPairs, compareLive } from "./compare-live.ts";
export { compareStored, type StoredSide } from "./compare-stored.ts";
export { countsOf } from "./counts.ts";
export type { Behaviour, ComparedResponse } from "./drift.ts";
export { type Block, mayHideRegression, needsLongerBlocks } from "./judge-metrics.ts";
