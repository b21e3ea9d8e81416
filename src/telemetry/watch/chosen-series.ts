import { seriesName } from "../../core/index.ts";
import type { ExposedSample } from "./exposition.ts";

/** One recorded series of an endpoint. */
export interface SeriesHead extends Pick<ExposedSample, "name" | "labels" | "kind"> {
  /** `name{label="value"}`, for display. */
  readonly text: string;
}

/** Series of one name beyond the limit. */
export interface DroppedSeries {
  readonly name: string;
  readonly series: number;
}

/** More than a report can show; a request counter may have thousands, one for each path. */
export const MAX_SERIES = 50;
/** Maximum number of names listed. */
const MAX_DROPPED = 100;

/** Metrics of the process and its runtime: resources and utilisation. Constant ones say nothing. */
const PROCESS = /^process_(?!start_time|max_fds|virtual_memory_max)/;
const RUNTIME = new Set([
  "go_goroutines",
  "go_threads",
  "go_memstats_heap_inuse_bytes",
  "go_memstats_sys_bytes",
  "go_gc_duration_seconds_sum",
  "go_gc_duration_seconds_count",
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
  "nodejs_eventloop_lag_seconds",
  "nodejs_eventloop_lag_p99_seconds",
  "nodejs_external_memory_bytes",
  "nodejs_heap_size_total_bytes",
  "nodejs_heap_size_used_bytes",
]);
/** `http_requests_total`, `envoy_http_downstream_rq_total`, `http_request_duration_seconds_count`. */
const REQUESTS = /(?:^|[_:])(?:requests?|rq)(?:[_:]|$)/;

/** Which samples are recorded. */
export interface SeriesChoice {
  readonly byName: (name: string, kind: ExposedSample["kind"]) => boolean;
  readonly bySeries: (text: string) => boolean;
}

/**
 * @param pattern matched against `name{label="value"}`; default: the usual metrics of process and runtime, and request
 * counters. Histogram buckets are many and show no trend: a pattern must name them.
 */
export function seriesChoice(pattern: RegExp | undefined): SeriesChoice {
  if (pattern === undefined)
    return {
      byName: (name, kind) => PROCESS.test(name) || RUNTIME.has(name) || (kind === "counter" && isOfRequests(name)),
      bySeries: () => true,
    };
  const wantsBuckets = pattern.source.includes("_bucket");
  return {
    byName: (name) => (wantsBuckets || !name.endsWith("_bucket")) && !name.endsWith("_created"),
    bySeries: (text) => pattern.test(text),
  };
}

/** Only the count of a histogram counts requests: its sum is in seconds or bytes. */
function isOfRequests(name: string): boolean {
  return REQUESTS.test(name) && !/_(?:sum|bucket|created)$/.test(name);
}

/** Records the first matching series, in order of appearance, and which were dropped. */
export class ChosenSeries {
  readonly series: SeriesHead[] = [];
  readonly #choice: SeriesChoice;
  readonly #index = new Map<string, number>();
  readonly #dropped = new Map<string, number>();

  constructor(choice: SeriesChoice) {
    this.#choice = choice;
  }

  /** @returns the value of each recorded series, `null` if this scrape has no number for it. */
  take(samples: readonly ExposedSample[]): (number | null)[] {
    const values: (number | null)[] = this.series.map(() => null);
    const dropped = new Map<string, number>();
    for (const { name, labels, kind, value } of samples) {
      const text = seriesName({ name, labels });
      if (!this.#choice.bySeries(text)) continue;
      let index = this.#index.get(text);
      if (index === undefined && this.series.length < MAX_SERIES) {
        index = this.series.push({ text, name, labels, kind }) - 1;
        this.#index.set(text, index);
      }
      if (index === undefined) dropped.set(name, (dropped.get(name) ?? 0) + 1);
      else values[index] = Number.isFinite(value) ? value : null;
    }
    for (const [name, series] of dropped)
      if (this.#dropped.has(name) || this.#dropped.size < MAX_DROPPED)
        this.#dropped.set(name, Math.max(series, this.#dropped.get(name) ?? 0));
    return values;
  }

  get dropped(): DroppedSeries[] {
    return [...this.#dropped].map(([name, series]) => ({ name, series }));
  }
}
