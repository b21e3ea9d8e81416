import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { setTimeout as wait } from "node:timers/promises";
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { messageOf, UsageError } from "../../core/index.ts";
import type { RequestSpan } from "../../load/index.ts";
import type { WatchedPhase } from "./live-feed.ts";
import { metricsOf, type OtlpSource, spansOf } from "./otlp-data.ts";

export interface OtlpOptions {
  /** Of the collector; `/v1/metrics` and `/v1/traces` are appended. */
  readonly url: string;
  readonly source: OtlpSource;
  readonly phases: readonly WatchedPhase[];
}

const EVERY_MS = 5_000;
/** Timeout of an export and its retries: the exporters repeat a 429, 502, 503 or 504. */
const TIMEOUT_MS = 5_000;
/** How long the start of the load waits for the collector. */
const OPEN_MS = 1_000;
/** Spans queued for the next export; the oldest are dropped first. */
const MAX_SPANS = 2_000;

/**
 * Exports the counters of a run, and spans, to a collector by OTLP over HTTP with protobuf. A failing collector is reported and
 * otherwise ignored.
 */
export class OtlpExporter {
  readonly #options: OtlpOptions;
  readonly #agent: HttpAgent;
  readonly #metrics: OTLPMetricExporter;
  readonly #traces: OTLPTraceExporter;
  readonly #timer: NodeJS.Timeout;
  /** Ended phases that have been exported: they no longer change. */
  readonly #final = new Set<WatchedPhase>();
  #spans: RequestSpan[] = [];
  #exporting: Promise<void> | undefined;
  #sent = 0;
  #failed = 0;
  #lastFailure = "";

  /** @throws UsageError when the exporters cannot read their variables, such as OTEL_EXPORTER_OTLP_HEADERS. */
  constructor(options: OtlpOptions) {
    this.#options = options;
    const { protocol, hostname } = new URL(options.url);
    // The exporters would look up an IPv6 address with its brackets, and reuse a connection just when a collector closes it.
    const connection = { host: hostname.replace(/^\[(.*)\]$/, "$1"), keepAlive: false };
    this.#agent = protocol === "https:" ? new HttpsAgent(connection) : new HttpAgent(connection);
    const base = options.url.replace(/\/+$/, "");
    const shared = { timeoutMillis: TIMEOUT_MS, httpAgentOptions: () => this.#agent };
    try {
      this.#metrics = new OTLPMetricExporter({ ...shared, url: `${base}/v1/metrics` });
      this.#traces = new OTLPTraceExporter({ ...shared, url: `${base}/v1/traces` });
    } catch (error) {
      throw new UsageError(`cannot read the OTEL_EXPORTER_OTLP_* variables: ${messageOf(error)}`, {
        hint: "OTEL_EXPORTER_OTLP_HEADERS takes name=value pairs with percent-encoded values, separated by commas.",
        cause: error,
      });
    }
    this.#timer = setInterval(() => this.#start(() => this.#export()), EVERY_MS);
    this.#timer.unref();
  }

  /** Exports metrics without points, so that lazy loading and compilation do not delay the load later. */
  async open(): Promise<void> {
    this.#start(async () => void (await this.#sendMetrics([])));
    await Promise.race([this.#exporting, wait(OPEN_MS, undefined, { ref: false })]);
  }

  span(span: RequestSpan): void {
    this.#spans.push(span);
    if (this.#spans.length > MAX_SPANS) this.#spans.shift();
  }

  /** Exports the rest. @returns the error message; `undefined` when everything was accepted. */
  async close(): Promise<string | undefined> {
    clearInterval(this.#timer);
    await this.#exporting;
    await this.#export();
    this.#agent.destroy();
    if (this.#failed === 0) return undefined;
    const { url } = this.#options;
    return `${this.#failed} of ${this.#sent} exports to ${url} failed (${this.#lastFailure}); the verdict does not depend on them`;
  }

  /** Exports do not overlap if one takes longer than the interval: counters are cumulative. */
  #start(exporting: () => Promise<void>): void {
    this.#exporting ??= exporting().finally(() => {
      this.#exporting = undefined;
    });
  }

  async #export(): Promise<void> {
    const phases = this.#options.phases.filter((phase) => !this.#final.has(phase));
    const ended = phases.filter((phase) => phase.ended !== undefined);
    const spans = this.#spans;
    this.#spans = [];
    const [isTaken] = await Promise.all([
      phases.length === 0 || this.#sendMetrics(phases),
      spans.length === 0 || this.#sendSpans(spans),
    ]);
    if (isTaken) for (const phase of ended) this.#final.add(phase);
  }

  #sendMetrics(phases: readonly WatchedPhase[]): Promise<boolean> {
    const metrics = metricsOf(this.#options.source, phases, Date.now());
    return this.#send("/v1/metrics", (onResult) => this.#metrics.export(metrics, onResult));
  }

  #sendSpans(spans: readonly RequestSpan[]): Promise<boolean> {
    const readable = spansOf(this.#options.source, spans);
    return this.#send("/v1/traces", (onResult) => this.#traces.export(readable, onResult));
  }

  /** @returns whether the collector accepted it. */
  async #send(path: string, send: (onResult: (result: ExportResult) => void) => void): Promise<boolean> {
    this.#sent++;
    const { code, error } = await new Promise<ExportResult>((resolve) => {
      // The exporters' own timeout does not cover connecting, nor a response that never ends.
      const timeout = setTimeout(() => {
        resolve({ code: ExportResultCode.FAILED, error: new Error(`no response within ${TIMEOUT_MS / 1_000} s`) });
      }, TIMEOUT_MS);
      send((result) => {
        clearTimeout(timeout);
        resolve(result);
      });
    }).catch((error: Error): ExportResult => ({ code: ExportResultCode.FAILED, error }));
    if (code === ExportResultCode.SUCCESS) return true;
    this.#failed++;
    this.#lastFailure = failureOf(path, error);
    return false;
  }
}

/** The exporters' error has the status as its code, unless they repeated the export. */
function failureOf(path: string, error: Error | undefined): string {
  const code = error !== undefined && "code" in error ? error.code : undefined;
  if (error?.name === "OTLPExporterError")
    return `${path} ${code === undefined ? "kept responding with a retryable status (429, 502, 503 or 504)" : `responded with ${code}`}`;
  // Two refused addresses of one name are an error without a message.
  return error?.message || String(code);
}
