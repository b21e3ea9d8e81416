import type { DroppedSeries, SeriesHead } from "./chosen-series.ts";

/** What the thread that scrapes is given at its start. */
export interface ScrapeStart {
  readonly url: string;
  /** Sent as a bearer token. Stays in the memory of this process. */
  readonly key: string | undefined;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Source of the regular expression by which series are chosen. */
  readonly pattern: string | undefined;
}

/** From the thread that scrapes. Moments are wall clock, Unix epoch milliseconds. */
export type Scraped =
  | {
      readonly kind: "values";
      readonly atMs: number;
      /** Series that were not there before; their values follow those of the others. */
      readonly added: readonly SeriesHead[];
      readonly values: readonly (number | null)[];
      readonly dropped: readonly DroppedSeries[];
    }
  | { readonly kind: "failure"; readonly atMs: number; readonly message: string };
