import { Histogram } from "../../src/metrics/index.ts";

/**
 * Reads the histogram log of a record. Lines that do not hold one of our histograms are skipped: a report shows what there is.
 *
 * @returns histograms by tag, values in microseconds.
 */
export function readHistogramLog(text: string): ReadonlyMap<string, Histogram> {
  const found = new Map<string, Histogram>();
  for (const line of text.split("\n")) {
    const match = /^Tag=([^,]+),[^,]*,[^,]*,[^,]*,(\S+)\s*$/.exec(line);
    const [, tag, encoded] = match ?? [];
    if (tag === undefined || encoded === undefined) continue;
    try {
      found.set(tag, Histogram.decode(encoded));
    } catch {
      // Truncated or damaged: the record's own quantiles are shown instead.
    }
  }
  return found;
}
