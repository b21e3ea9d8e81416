import { resolve } from "node:path";
import { admittedRate, latencyTableOf, shellWord } from "../../../reports/index.ts";
import { VERSION } from "../../core/index.ts";
import type { Redactor } from "../../http/recorder/index.ts";
import type { LoadsContext } from "../../load/index.ts";
import type { Finding, LoadRun } from "../../record/index.ts";
import type { Target } from "../../target/index.ts";
import { EventStream, type RunEnd } from "./event-stream.ts";
import { LiveFeed, liveThresholds } from "./live-feed.ts";
import { type LocalServer, type Route, startLocalServer } from "./local-server.ts";
import type { OtlpExporter } from "./otlp-exporter.ts";
import type { WatchOptions } from "./watch-options.ts";

export interface Watched {
  readonly target: Pick<Target, "name" | "baseUrl">;
  readonly redactor: Redactor;
  /** Receives the address where the run can be watched. */
  readonly onNotice: (text: string) => void;
}

/** How a run ended, and the results of its loads. */
interface EndedLoads extends Pick<RunEnd, "exitCode" | "headline" | "reasons"> {
  /** The loads, each with the findings of its thresholds. */
  readonly runs: readonly { readonly run: LoadRun; readonly findings: readonly Finding[] }[];
}

/** Publishes a running load; the run never waits for its viewers. */
export interface Watch extends AsyncDisposable {
  /** Adds our listeners to an existing one. */
  readonly listeners: (
    other: Pick<LoadsContext, "onPhase" | "onEvent">,
  ) => Pick<LoadsContext, "onRunning" | "onPhase" | "onSpan" | "onEvent">;
  /** Records how the run ended; clients are notified on disposal. */
  readonly finish: (end: EndedLoads, folder: string) => void;
}

/** @throws UsageError when a port is taken. */
export async function watchLoad(options: WatchOptions, { target, redactor, onNotice }: Watched): Promise<Watch> {
  const events = new EventStream((id) => feed.since(id));
  const feed = new LiveFeed({ target: target.name, redactor, onUpdate: (update) => events.send(update) });
  const servers: LocalServer[] = [];
  let exporter: OtlpExporter | undefined;
  let end: RunEnd | undefined;
  const close = async () => {
    feed[Symbol.dispose]();
    events.end(end);
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    const failure = await exporter?.close();
    if (failure !== undefined) onNotice(`OTLP: ${failure}`);
  };
  try {
    if (options.otlp !== undefined) {
      const source = { target: target.name, baseUrl: target.baseUrl, version: VERSION };
      const module = await import("./otlp-exporter.ts");
      exporter = new module.OtlpExporter({ url: options.otlp, source, phases: feed.phases });
      await exporter.open();
    }
    if (options.live === true) {
      const server = await startLocalServer({
        port: options.livePort ?? 0,
        option: "--live-port",
        routes: await pageRoutes(events),
      });
      servers.push(server);
      onNotice(`live: ${server.origin}/`);
    }
    if (options.metricsPort !== undefined) {
      const routes = new Map([["/metrics", await metricsRoute(target.name, feed)]]);
      const server = await startLocalServer({ port: options.metricsPort, option: "--metrics-port", routes });
      servers.push(server);
      onNotice(`Prometheus metrics: ${server.origin}/metrics`);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    listeners: ({ onPhase, onEvent }) => ({
      onEvent: (notice) => {
        onEvent?.(notice);
        feed.marked(notice);
      },
      onRunning: (phase) => feed.start(phase),
      onSpan: exporter && ((span) => exporter.span(span)),
      onPhase: (run, phase) => {
        onPhase(run, phase);
        feed.ended(run, phase);
      },
    }),
    finish: ({ exitCode, headline, reasons, runs }, folder) => {
      end = {
        ...{ exitCode, headline, reasons },
        report: resolve(folder, "report.html"),
        openCommand: `gauntlet show-report ${shellWord(resolve(folder))}`,
        thresholds: runs.flatMap(({ run, findings }) => liveThresholds(run.name, findings)),
        runs: runs.map(({ run }) => ({
          run: run.name,
          admitted: admittedRate(run),
          latencies: latencyTableOf(run),
          generator: { problems: run.generator.problems, scheduleLagP99Ms: run.generator.scheduleLagMs.p99 },
        })),
      };
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Imported lazily: the script of the page exists only in the bundle, and a run without the page needs neither. */
async function pageRoutes(events: EventStream): Promise<ReadonlyMap<string, Route>> {
  const { PAGE } = await import("./page.ts");
  const files = [...PAGE].map(([path, { type, text }]): [string, Route] => [
    path,
    (_request, response) => {
      response.writeHead(200, { "content-type": type });
      response.end(text);
    },
  ]);
  return new Map<string, Route>([...files, ["/events", (request, response) => events.open(request, response)]]);
}

/** Counters at the time of the scrape. */
async function metricsRoute(target: string, feed: LiveFeed): Promise<Route> {
  const { prometheusMetrics } = await import("./prometheus-metrics.ts");
  return async (_request, response) => {
    const phases = feed.phases.map(({ running: { run, name, tally, sender }, ended }) => ({
      run,
      phase: name,
      counts: tally.total,
      inFlight: ended === undefined ? sender.inFlight : 0,
      connections: ended?.connections ?? sender.opened,
      lag: tally.lag,
      classes: [...tally.classes],
    }));
    const registry = prometheusMetrics({ target, phases, loopDelayP99Ms: feed.loopDelayP99Ms });
    response.writeHead(200, { "content-type": registry.contentType });
    response.end(await registry.metrics());
  };
}
