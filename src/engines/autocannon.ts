import type { EventEmitter } from "node:events";
import { performance } from "node:perf_hooks";
import type { ReceivedReply } from "../judging/index.ts";

export interface PeakOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Requests in flight, one connection each; not more than the total that may be sent. */
  readonly connections: number;
  readonly durationS: number;
  /** Response timeout, seconds. */
  readonly timeoutS: number;
  /** Called before each request; if false, the connection that would have sent it is closed. */
  readonly maySend: () => boolean;
  /** Times are µs on the clock of `performance.now()`. */
  readonly onReply: (reply: ReceivedReply) => void;
  /** Sends no more requests and waits for those in flight. */
  readonly stop: AbortSignal;
}

/** The part of an autocannon client used here; its own types declare none of it. */
interface Client extends EventEmitter {
  /** The present connection. */
  readonly conn: EventEmitter;
  destroy(): void;
  readonly timeoutTicker: { clear(): void };
}

interface Head {
  readonly statusCode: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
}

const nowUs = (): number => performance.now() * 1_000;
/** Bodies are passed on up to this length, characters. */
const MAX_BODY_CHARS = 4 * 1024 * 1024 + 1;
/** Maximum sizes, bytes. Autocannon buffers a whole response, so we close the connection of a larger one. */
const MAX_HEAD_BYTES = 1024 * 1024;
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
/** How often autocannon checks whether it is done, ms. */
const POLL_INTERVAL_MS = 100;
/** Autocannon's own end is only a safety net: every connection closes before it. */
const NET_S = 10;

/**
 * Keeps this many requests in flight until the duration is over or no more may be sent, and reports every reply. Closed loop
 * only: autocannon's rate mode sends in bursts and corrects latencies with invented values (p50 of 52 ms for an actual 100 ms),
 * and is never used. Nor are its counters: they miss connections that the server closes without a response.
 */
export async function closedLoopPeak(options: PeakOptions): Promise<void> {
  const { url, headers, connections, durationS, timeoutS, stop } = options;
  // Loaded here: other loads import this module for what is next to it, and need no second engine.
  const { default: autocannon } = await import("autocannon");
  if (stop.aborted) return;
  let over = false;
  let body = "";
  const end = () => {
    over = true;
  };
  const timer = setTimeout(end, durationS * 1_000);
  stop.addEventListener("abort", end, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      let clients = 0;
      const settings = {
        url,
        connections,
        duration: durationS + timeoutS + NET_S,
        timeout: timeoutS,
        sampleInt: POLL_INTERVAL_MS,
        requests: [
          {
            method: "POST" as const,
            headers: { ...headers },
            body: options.body,
            // Called just before the `response` event.
            onResponse: (_status: number, text: string) => {
              body = text.slice(0, MAX_BODY_CHARS);
            },
          },
        ],
        setupClient: (client: unknown) =>
          follow(client as Client, clients++, {
            maySend: () => !over && options.maySend(),
            onReply: options.onReply,
            body: () => body,
            timeoutUs: timeoutS * 1_000_000,
          }),
      };
      autocannon(settings, (error: unknown) => (error ? reject(error) : resolve()));
    });
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", end);
  }
}

interface Following extends Pick<PeakOptions, "maySend" | "onReply"> {
  /** Body of the reply that just arrived. */
  readonly body: () => string;
  readonly timeoutUs: number;
}

/** Listens to one connection: each request that it starts results in exactly one call of `onReply`. */
function follow(client: Client, connection: number, { maySend, onReply, body, timeoutUs }: Following): void {
  let sentUs: number | undefined;
  let headUs: number | undefined;
  let head: Head | undefined;
  const ended = (ending: ReceivedReply["ending"], text = "") => {
    if (sentUs === undefined) return;
    const status = head?.statusCode;
    onReply({
      connection,
      sentUs,
      headUs,
      endUs: nowUs(),
      status,
      head: head === undefined ? "" : headText(head),
      body: text,
      ending,
    });
    sentUs = undefined;
  };
  const leave = () => {
    client.destroy();
    // Autocannon sets its timer again after destroy(), which would reconnect.
    setImmediate(() => client.timeoutTicker.clear());
  };
  let receivedBytes = 0;
  const count = (chunk: Buffer) => {
    receivedBytes += chunk.length;
    if (receivedBytes <= (head === undefined ? MAX_HEAD_BYTES : MAX_RESPONSE_BYTES)) return;
    // The response exceeds the maximum. The parser cannot be reset, so this client opens no further connection.
    ended("deadline");
    leave();
  };
  let counted: EventEmitter | undefined;
  client.on("request", () => {
    receivedBytes = 0;
    if (counted !== client.conn) {
      counted = client.conn;
      counted.on("data", count);
    }
    // Restarted without an event for the previous request: the server closed the connection, or the request timed out.
    ended(sentUs !== undefined && nowUs() - sentUs >= timeoutUs * 0.99 ? "deadline" : "reset");
    if (maySend()) {
      sentUs = nowUs();
      headUs = undefined;
      head = undefined;
      return;
    }
    leave();
  });
  client.on("headers", (parsed: Head) => {
    head = parsed;
    headUs = nowUs();
  });
  client.on("response", () => ended("complete", body()));
  client.on("connError", ({ code }: NodeJS.ErrnoException) => ended(code === "ECONNRESET" ? "reset" : "unreachable"));
}

function headText({ statusCode, headers }: Head): string {
  const fields = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1] ?? ""}`] : []));
  return [`HTTP/1.1 ${statusCode}`, ...fields, ""].join("\r\n");
}
