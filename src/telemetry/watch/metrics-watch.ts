import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { type HeldGauge, judgeGauge } from "../../load/index.ts";
import type { WatchedMetrics } from "../../record/index.ts";
import type { DroppedSeries, SeriesHead } from "./chosen-series.ts";
import { EvenSamples } from "./even-samples.ts";
import { resourceOf } from "./held-resources.ts";
import type { Scraped, ScrapeStart } from "./scrape-messages.ts";

export interface MetricsOptions {
  readonly url: string;
  readonly key: string | undefined;
  readonly intervalMs: number;
  readonly pattern: string | undefined;
  /** Called at the first failed scrape. */
  readonly onNotice: (text: string) => void;
}

type Values = Extract<Scraped, { kind: "values" }>;

/** An hour of 50 series takes two megabytes of the record. */
const MAX_SCRAPES = 3_600;
/** Timeout of a scrape. */
const TIMEOUT_MS = 5_000;

/** Scrapes the metrics of the target during a load, in a separate thread. */
export class MetricsWatch implements AsyncDisposable {
  readonly #options: MetricsOptions;
  readonly #worker: Worker;
  readonly #series: SeriesHead[] = [];
  readonly #scrapes = new EvenSamples<Pick<Values, "atMs" | "values">>(MAX_SCRAPES);
  readonly #waiting = new Set<(scraped: Scraped | undefined) => void>();
  #dropped: readonly DroppedSeries[] = [];
  #count = 0;
  #failed = 0;
  #isGone = false;
  #firstFailure: { readonly atMs: number; readonly message: string } | undefined;

  private constructor(options: MetricsOptions) {
    this.#options = options;
    const { url, key, intervalMs, pattern } = options;
    const workerData: ScrapeStart = { url, key, intervalMs, pattern, timeoutMs: TIMEOUT_MS };
    const file = `./scrape-worker.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`;
    this.#worker = new Worker(fileURLToPath(new URL(file, import.meta.url)), { workerData });
    this.#worker.on("message", (scraped: Scraped) => this.#take(scraped));
    // If the thread fails, scraping ends and the load continues.
    this.#worker.on("error", ({ message }) => this.#take({ kind: "failure", atMs: Date.now(), message }));
    this.#worker.on("exit", () => {
      this.#isGone = true;
      this.#notify(undefined);
    });
  }

  /** @returns after the first scrape, successful or not, so that one precedes the load. */
  static async open(options: MetricsOptions): Promise<MetricsWatch> {
    const watch = new MetricsWatch(options);
    await watch.#next(() => true);
    return watch;
  }

  /** Scrapes once more, then stops. */
  async end(): Promise<void> {
    if (this.#isGone) return;
    const nowMs = Date.now();
    const last = this.#next(({ atMs }) => atMs >= nowMs);
    this.#worker.postMessage("scrape");
    await last;
    await this.#worker.terminate();
  }

  /** The scraped values, in seconds from the start of a run. @param endS when its load ended. */
  section(startMs: number, endS: number): WatchedMetrics {
    const scrapes = this.#scrapes.all;
    const atS = scrapes.map(({ atMs }) => (atMs - startMs) / 1_000);
    const own = atS.findIndex((second) => second >= 0);
    const from = own < 0 ? atS.length : own;
    const all = this.#series.map((head, index) => ({ head, raw: scrapes.map(({ values }) => values[index] ?? null) }));
    return {
      url: this.#options.url.replace(/[?#].*$/s, ""),
      everyS: this.#options.intervalMs / 1_000,
      atS: atS.slice(from),
      series: all.map(({ head: { name, labels, kind }, raw }) => {
        const { values, restarts } = kind === "counter" ? ratesOf(atS, raw) : { values: raw, restarts: 0 };
        return {
          ...{ name, labels: { ...labels }, kind, values: values.slice(from) },
          ...(restarts === 0 ? {} : { restarts }),
        };
      }),
      leaks: all.flatMap(({ head, raw }) => {
        const held = heldBy(head, atS, raw);
        return held === undefined ? [] : [judgeGauge(held, endS)];
      }),
      dropped: [...this.#dropped],
      scrapes: this.#count,
      failed: this.#failed,
      firstFailure: this.#firstFailure && {
        atS: (this.#firstFailure.atMs - startMs) / 1_000,
        message: this.#firstFailure.message,
      },
    };
  }

  #take(scraped: Scraped): void {
    this.#count++;
    if (scraped.kind === "values") {
      this.#series.push(...scraped.added);
      this.#dropped = scraped.dropped;
      this.#scrapes.add({ atMs: scraped.atMs, values: scraped.values });
    } else {
      this.#failed++;
      if (this.#firstFailure === undefined) {
        this.#firstFailure = scraped;
        this.#options.onNotice(`--watch-metrics: ${scraped.message}; the load does not depend on it`);
      }
    }
    this.#notify(scraped);
  }

  #notify(scraped: Scraped | undefined): void {
    for (const listener of this.#waiting) listener(scraped);
  }

  /** The next scrape of a kind, with a timeout of two scrapes. */
  #next(isExpected: (scraped: Scraped) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(late);
        this.#waiting.delete(listener);
        resolve();
      };
      const listener = (scraped: Scraped | undefined) => {
        if (scraped === undefined || isExpected(scraped)) finish();
      };
      const late = setTimeout(finish, 2 * TIMEOUT_MS);
      this.#waiting.add(listener);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Increase of a counter per second. A lower value than before means that its process restarted. */
function ratesOf(
  atS: readonly number[],
  raw: readonly (number | null)[],
): { readonly values: (number | null)[]; readonly restarts: number } {
  let before: { readonly atS: number; readonly value: number } | undefined;
  let restarts = 0;
  const values = raw.map((value, index) => {
    if (value === null) return null;
    const now = { atS: atS[index] ?? 0, value };
    const since = before;
    before = now;
    if (since === undefined || now.atS <= since.atS) return null;
    const hasRestarted = value < since.value;
    if (hasRestarted) restarts++;
    return (value - (hasRestarted ? 0 : since.value)) / (now.atS - since.atS);
  });
  return { values, restarts };
}

function heldBy(
  { name, text, kind }: SeriesHead,
  atS: readonly number[],
  raw: readonly (number | null)[],
): HeldGauge | undefined {
  const resource = kind === "gauge" ? resourceOf(name) : undefined;
  if (resource === undefined) return undefined;
  const points = raw.flatMap((value, index) => (value === null ? [] : [{ atS: atS[index] ?? 0, value }]));
  return { ...resource, name: text, points };
}
