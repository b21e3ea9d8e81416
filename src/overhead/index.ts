export { conclude } from "./conclude.ts";
export { type Measured, measureOverhead } from "./measure-overhead.ts";
export type { LaneTarget, Level } from "./overhead-options.ts";
export type { UpstreamLog } from "./upstream-log.ts";
