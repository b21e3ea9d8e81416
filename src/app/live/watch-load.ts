import { renderPrometheus } from "../../../reports/index.ts";
import type { Redactor } from "../../http-recorder/index.ts";
import type { RunningPhase } from "../../load/index.ts";
import type { JudgedPhase } from "../../record/index.ts";
import { LiveFeed } from "./live-feed.ts";
import { type LocalServer, type Route, startLocalServer } from "./local-server.ts";
import type { WatchOptions } from "./watch-options.ts";

export interface Watched {
  /** Name of the target. */
  readonly target: string;
  readonly redactor: Redactor;
  /** Told where the run can be watched. */
  readonly onNotice: (text: string) => void;
}

/** Shows a load run to others while it goes on; the run waits for none of them. */
export interface Watch extends AsyncDisposable {
  readonly onRunning: (phase: RunningPhase) => void;
  readonly onPhase: (run: string, phase: JudgedPhase) => void;
}

/** @throws UsageError when a port is taken. */
export async function watchLoad(options: WatchOptions, { target, redactor, onNotice }: Watched): Promise<Watch> {
  const feed = new LiveFeed({ target, redactor, onUpdate: () => undefined });
  const servers: LocalServer[] = [];
  const close = async () => {
    feed[Symbol.dispose]();
    for (const server of servers) await server[Symbol.asyncDispose]();
  };
  try {
    if (options.metricsPort !== undefined) {
      const routes = new Map([["/metrics", metricsRoute(target, feed)]]);
      const server = await startLocalServer({ port: options.metricsPort, option: "--metrics-port", routes });
      servers.push(server);
      onNotice(`Prometheus metrics: ${server.origin}/metrics`);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    onRunning: (phase) => feed.begin(phase),
    onPhase: (run, phase) => feed.ended(run, phase),
    [Symbol.asyncDispose]: close,
  };
}

/** Counters as they stand when they are asked for. */
function metricsRoute(target: string, feed: LiveFeed): Route {
  return (_request, response) => {
    const phases = feed.phases.map(({ running: { run, name, tally, sender }, ended }) => ({
      run,
      phase: name,
      counts: tally.total,
      inFlight: ended === undefined ? sender.inFlight : 0,
      connections: ended?.connections ?? sender.opened,
      lag: tally.lag,
      classes: [...tally.classes],
    }));
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
    response.end(renderPrometheus({ target, phases, loopDelayP99Ms: feed.loopDelayP99Ms }));
  };
}
