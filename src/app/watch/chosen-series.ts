import { seriesName } from "../../core/index.ts";
import type { ExposedSample } from "./exposition.ts";

/** One series of an endpoint that is kept. */
export interface SeriesHead extends Pick<ExposedSample, "name" | "labels" | "kind"> {
  /** `name{label="value"}`, as it is spoken of. */
  readonly text: string;
}

/** Series of one name that found no room. */
export interface DroppedSeries {
  readonly name: string;
  readonly series: number;
}

/** More than a report can show; a request counter may have thousands, one for each path. */
export const MAX_SERIES = 50;
/** Names that are told of. */
const MAX_DROPPED = 100;

/** Of the process and its runtime: what it holds and how busy it is. What never changes says nothing. */
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

/** Which samples are kept. */
export interface SeriesChoice {
  readonly byName: (name: string, kind: ExposedSample["kind"]) => boolean;
  readonly bySeries: (text: string) => boolean;
}

/**
 * @param pattern looked for in `name{label="value"}`; default: what most endpoints have of their process and runtime, and counters of
 *   requests. Buckets of histograms are many and no development over time: a pattern must name them.
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

/** Of a histogram only the number is one of requests: its sum is of seconds or bytes. */
function isOfRequests(name: string): boolean {
  return REQUESTS.test(name) && !/_(?:sum|bucket|created)$/.test(name);
}

/** Keeps the first series that are wanted, in the order in which they appear, and knows what found no room. */
export class ChosenSeries {
  readonly series: SeriesHead[] = [];
  readonly #choice: SeriesChoice;
  readonly #index = new Map<string, number>();
  readonly #dropped = new Map<string, number>();

  constructor(choice: SeriesChoice) {
    this.#choice = choice;
  }

  /** @returns for each series that is kept its value, `null` where this scrape has none that is a number. */
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
