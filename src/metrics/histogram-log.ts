import { HistogramLogWriter } from "hdr-histogram-js";
import type { Histogram } from "./histogram.ts";

export interface TaggedHistogram {
  /** Letters, digits and dots, e.g. `at-rate-limit.chat.stream.admitted.ttft`. */
  readonly tag: string;
  readonly histogram: Histogram;
  /** Wall clock, Unix epoch milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
}

/** Values are microseconds; tools that divide by a million show seconds. */
const MAX_VALUE_UNIT_RATIO = 1_000;

/** Writes histograms in the interval log format (`.hlog`), one tagged line each, readable by HdrHistogram tools. */
export function histogramLog(entries: readonly TaggedHistogram[], startedAtMs: number): string {
  const lines: string[] = [];
  const writer = new HistogramLogWriter((text) => lines.push(text));
  writer.outputLogFormatVersion();
  writer.outputComment("[Gauntlet: values are microseconds, one line per phase and figure]");
  writer.outputStartTime(startedAtMs);
  writer.outputLegend();
  for (const { tag, histogram, startMs, endMs } of entries) {
    const { hdr } = histogram;
    hdr.tag = tag;
    writer.outputIntervalHistogram(
      hdr,
      (startMs - startedAtMs) / 1_000,
      (endMs - startedAtMs) / 1_000,
      MAX_VALUE_UNIT_RATIO,
    );
  }
  return lines.join("");
}
