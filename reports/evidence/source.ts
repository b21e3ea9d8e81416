import type { Histogram } from "../../src/metrics/index.ts";
import type { RunRecord } from "../../src/record/index.ts";
import type { Evidence } from "./evidence.ts";

/** All inputs of a renderer. The same source always renders to the same bytes. */
export interface ReportSource {
  readonly record: RunRecord;
  /** A recorded exchange of the run, if available. */
  readonly evidence: (id: string) => Evidence | undefined;
  /** An earlier run to compare with, as comments do. */
  readonly base?: RunRecord | undefined;
  /** Where readers of a comment find the report. */
  readonly reportUrl?: string | undefined;
  /** Full histograms of a load run by tag, if its log is available. */
  readonly histograms?: ((hlog: string) => ReadonlyMap<string, Histogram>) | undefined;
}
