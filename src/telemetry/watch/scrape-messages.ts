import type { DroppedSeries, SeriesHead } from "./chosen-series.ts";

/** Start message for the scraping thread. */
export interface ScrapeStart {
  readonly url: string;
  /** Sent as a bearer token. Stays in the memory of this process. */
  readonly key: string | undefined;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Source of the regular expression that selects series. */
  readonly pattern: string | undefined;
}

/** From the scraping thread. Times are wall clock, Unix epoch milliseconds. */
export type Scraped =
  | {
      readonly kind: "values";
      readonly atMs: number;
      /** New series; their values follow those of the earlier ones. */
      readonly added: readonly SeriesHead[];
      readonly values: readonly (number | null)[];
      readonly dropped: readonly DroppedSeries[];
    }
  | { readonly kind: "failure"; readonly atMs: number; readonly message: string };
