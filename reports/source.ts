import type { Histogram } from "../src/metrics/index.ts";
import type { RunRecord } from "../src/record/index.ts";
import type { Evidence } from "./evidence.ts";

/** All that a renderer may know. The same source gives the same bytes, whenever and wherever it is rendered. */
export interface ReportSource {
  readonly record: RunRecord;
  /** A recorded exchange of the run, where it was kept. */
  readonly evidence: (id: string) => Evidence | undefined;
  /** Whole histograms of a load run by tag, where its log was kept. */
  readonly histograms?: ((hlog: string) => ReadonlyMap<string, Histogram>) | undefined;
}
