export { Histogram, NO_QUANTILES, type Quantiles } from "./histogram.ts";
export { histogramLog, type TaggedHistogram } from "./histogram-log.ts";
