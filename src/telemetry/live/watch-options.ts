import { addressProblem, UsageError } from "../../core/index.ts";
import type { Workload } from "../../load/index.ts";

/** How a running load is published. */
export interface WatchOptions {
  /** Serve the live page. */
  readonly live?: boolean;
  /** Port of the live page; 0 or absent: any free port. */
  readonly livePort?: number | undefined;
  /** Port for Prometheus; 0: any free port. */
  readonly metricsPort?: number | undefined;
  /** URL of an OpenTelemetry collector, for OTLP over HTTP. */
  readonly otlp?: string | undefined;
}

/** @returns the option that publishes the running load, if any. */
export function watchedBy({ live = false, metricsPort, otlp }: WatchOptions): string | undefined {
  if (live) return "--live";
  if (metricsPort !== undefined) return "--metrics-port";
  return otlp === undefined ? undefined : "--otlp";
}

/** Live figures are read from the counters of the native senders: other engines provide none while they run. */
export function checkWatched(options: WatchOptions, workloads: readonly Workload[]): void {
  const option = watchedBy(options);
  if (options.livePort !== undefined && options.live !== true)
    throw new UsageError("--live-port is the port of --live", { hint: "Add --live, or omit --live-port." });
  if (option === undefined) return;
  if (options.otlp !== undefined) checkUrl(options.otlp);
  const other = workloads.find(({ engine }) => engine !== "native");
  if (other !== undefined)
    throw new UsageError(`${option} needs the native engine, and ${other.name} is sent by ${other.engine}`, {
      hint: `Omit ${option}.`,
    });
}

function checkUrl(text: string): void {
  if (addressProblem(text) === undefined) return;
  throw new UsageError("--otlp takes the http or https address of a collector, without user, password or query", {
    hint: "Such as http://127.0.0.1:4318; /v1/metrics and /v1/traces are added.",
  });
}
