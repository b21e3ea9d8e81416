export { MIN_RUNS } from "./change-points.ts";
export type { Gap } from "./gaps.ts";
export { HistoryFile, type StoredRun } from "./history-file.ts";
export { changedFirst, mostImportantFirst } from "./importance.ts";
export { type HistoryReport, judgeTrends } from "./judge-trends.ts";
export { lostChecks } from "./lost-checks.ts";
export { changeText, valueText } from "./trend-text.ts";
export { type Trend, type TrendValue, trendsOf } from "./trends.ts";
