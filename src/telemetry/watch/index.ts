export { openTargetWatch, type TargetWatchOptions } from "./open-watch.ts";
export { ProcessWatch } from "./process-tree.ts";
