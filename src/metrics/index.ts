export { type Heat, HeatGrid, ROWS_PER_DECADE, readHeatColumn } from "./heat-grid.ts";
export { Histogram, NO_QUANTILES, type Quantiles, type StoredHistogram } from "./histogram.ts";
export { histogramLog, type TaggedHistogram } from "./histogram-log.ts";
