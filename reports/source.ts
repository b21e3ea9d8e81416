import type { Histogram } from "../src/metrics/index.ts";
import type { RunRecord } from "../src/record/index.ts";
import type { Evidence } from "./evidence.ts";

/** All inputs of a renderer. The same source always renders to the same bytes. */
export interface ReportSource {
  readonly record: RunRecord;
  /** A recorded exchange of the run, if available. */
  readonly evidence: (id: string) => Evidence | undefined;
  /** Full histograms of a load run by tag, if its log is available. */
  readonly histograms?: ((hlog: string) => ReadonlyMap<string, Histogram>) | undefined;
}
