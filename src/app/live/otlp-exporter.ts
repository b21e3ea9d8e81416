import { messageOf } from "../../core/index.ts";
import type { RequestSpan } from "../../load/index.ts";
import type { WatchedPhase } from "./live-feed.ts";
import { metricsRequest, type OtlpSource, tracesRequest } from "./otlp-messages.ts";

export interface OtlpOptions {
  /** Of the collector; `/v1/metrics` and `/v1/traces` are appended. */
  readonly url: string;
  readonly source: OtlpSource;
  readonly phases: readonly WatchedPhase[];
}

const EVERY_MS = 5_000;
/** Timeout of an export. */
const TIMEOUT_MS = 5_000;
/** Spans queued for the next export; the oldest are dropped first. */
const MAX_SPANS = 2_000;

/**
 * Exports the counters of a run, and spans, to a collector by OTLP over HTTP with protobuf. A failing collector is reported and
 * otherwise ignored.
 */
export class OtlpExporter {
  readonly #options: OtlpOptions;
  readonly #timer: NodeJS.Timeout;
  /** Ended phases that have been exported: they no longer change. */
  readonly #final = new Set<WatchedPhase>();
  #spans: RequestSpan[] = [];
  #exporting: Promise<void> | undefined;
  #sent = 0;
  #failed = 0;
  #lastFailure = "";

  constructor(options: OtlpOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#start(), EVERY_MS);
    this.#timer.unref();
  }

  /** Sends an empty request, so that lazy loading and compilation do not delay the load later. */
  async open(): Promise<void> {
    await this.#post("metrics", Buffer.alloc(0));
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
    if (this.#failed === 0) return undefined;
    const { url } = this.#options;
    return `${this.#failed} of ${this.#sent} exports to ${url} failed (${this.#lastFailure}); the verdict does not depend on them`;
  }

  /** Exports do not overlap if one takes longer than the interval: counters are cumulative. */
  #start(): void {
    this.#exporting ??= this.#export().finally(() => {
      this.#exporting = undefined;
    });
  }

  async #export(): Promise<void> {
    const { source } = this.#options;
    const phases = this.#options.phases.filter((phase) => !this.#final.has(phase));
    const ended = phases.filter((phase) => phase.ended !== undefined);
    const isTaken = phases.length === 0 || (await this.#post("metrics", metricsRequest(source, phases, Date.now())));
    if (isTaken) for (const phase of ended) this.#final.add(phase);
    const spans = this.#spans;
    this.#spans = [];
    if (spans.length > 0) await this.#post("traces", tracesRequest(source, spans));
  }

  /** @returns whether the collector accepted it. */
  async #post(signal: "metrics" | "traces", body: Buffer): Promise<boolean> {
    this.#sent++;
    try {
      const { ok, status } = await fetch(`${this.#options.url.replace(/\/+$/, "")}/v1/${signal}`, {
        method: "POST",
        headers: { "content-type": "application/x-protobuf" },
        body: new Uint8Array(body),
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (!ok) throw new Error(`/v1/${signal} responded with ${status}`);
      return true;
    } catch (error) {
      this.#failed++;
      this.#lastFailure = messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
      return false;
    }
  }
}
