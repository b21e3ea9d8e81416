import type { IncomingMessage, ServerResponse } from "node:http";
import type { AdmittedRate, LatencyTable } from "../../../reports/index.ts";
import type { LiveThreshold, LiveUpdate } from "./live-feed.ts";

/** Whether the figures of a run can be trusted. */
export interface EndedGenerator {
  readonly scheduleLagP99Ms: number;
  /** Why it is not valid; empty if it is. */
  readonly problems: readonly string[];
}

/** A load that has ended, with the figures of the report. */
export interface EndedRun {
  readonly run: string;
  /** Absent for a tier whose rate limit was not reached. */
  readonly admitted?: AdmittedRate | undefined;
  readonly latencies: LatencyTable;
  readonly generator: EndedGenerator;
}

/** How a run ended, according to its record. */
export interface RunEnd {
  readonly exitCode: number;
  /** Begins with the verdict. */
  readonly headline: string;
  /** The main reasons of the verdict. */
  readonly reasons: readonly string[];
  /** Path of the HTML report. */
  readonly report: string;
  /** The command that opens the report; shown because the live page cannot link to a file. */
  readonly openCommand: string;
  /** Of all workloads, as in the report. */
  readonly thresholds: readonly LiveThreshold[];
  readonly runs: readonly EndedRun[];
}

/** A client that does not read is disconnected; it gets what it missed when it reconnects. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** How long a browser waits before it reconnects, ms. */
const RETRY_MS = 1_000;

/**
 * Updates of one run as server-sent events. The id of an event names the run and the update: a client that reconnects gets what
 * changed since, and a client of an earlier run on the same port gets everything.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export class EventStream {
  readonly #since: (id: number) => LiveUpdate;
  readonly #run = Date.now().toString(36);
  readonly #clients = new Set<ServerResponse>();

  /** @param since returns what changed after an update. */
  constructor(since: (id: number) => LiveUpdate) {
    this.#since = since;
  }

  /** Opens the stream of one client. */
  open(request: IncomingMessage, response: ServerResponse): void {
    const [run, id] = String(request.headers["last-event-id"] ?? "").split("-");
    // Without "close" the end of the run would wait for clients that keep their connections alive.
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", connection: "close" });
    response.write(`retry: ${RETRY_MS}\n\n${this.#eventOf(this.#since(run === this.#run ? Number(id) || 0 : 0))}`);
    this.#clients.add(response);
    response.on("close", () => this.#clients.delete(response));
  }

  send(update: LiveUpdate): void {
    const event = this.#eventOf(update);
    for (const client of this.#clients) {
      if (client.writableLength > MAX_UNREAD_BYTES) client.destroy();
      else client.write(event);
    }
  }

  /** Sends how the run ended; no further events follow. @param end `undefined` when it ended without a verdict. */
  end(end: RunEnd | undefined): void {
    for (const client of this.#clients) client.end(`event: end\ndata: ${JSON.stringify(end ?? null)}\n\n`);
  }

  #eventOf(update: LiveUpdate): string {
    return `id: ${this.#run}-${update.id}\nevent: update\ndata: ${JSON.stringify(update)}\n\n`;
  }
}
