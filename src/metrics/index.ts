export { BlockCounts, type StoredBlocks } from "./block-counts.ts";
export { CountBlocks, type StoredCounts } from "./count-blocks.ts";
export { type Heat, HeatGrid, ROWS_PER_DECADE, readHeatColumn } from "./heat-grid.ts";
export {
  Histogram,
  type HistogramGrowth,
  NO_QUANTILES,
  type Quantiles,
  ReadCounts,
  type StoredHistogram,
} from "./histogram.ts";
export { histogramLog, type TaggedHistogram } from "./histogram-log.ts";
export {
  LATENCY_FIGURE_NAMES,
  LATENCY_FIGURES,
  type LatencyFigure,
  type LatencyMetric,
  latencyFields,
} from "./latency-figures.ts";
export { quantileIntervals } from "./quantile-intervals.ts";
