import type { EventEmitter } from "node:events";
import { performance } from "node:perf_hooks";
import autocannon from "autocannon";
import type { ReceivedReply } from "../judging/index.ts";

export interface PeakOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Requests in flight, one connection each; no more than may be sent in all. */
  readonly connections: number;
  readonly durationS: number;
  /** Longest wait for an answer, seconds. */
  readonly answerS: number;
  /** Called before each request: false ends the connection that would have sent it. */
  readonly maySend: () => boolean;
  /** Moments are µs on the clock of `performance.now()`. */
  readonly onReply: (reply: ReceivedReply) => void;
  /** Sends nothing more; what is in flight is waited for. */
  readonly stop: AbortSignal;
}

/** What of an autocannon client is used here; its types name none of it. */
interface Client extends EventEmitter {
  destroy(): void;
  readonly timeoutTicker: { clear(): void };
}

interface Head {
  readonly statusCode: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

const nowUs = (): number => performance.now() * 1_000;
/** Bodies are passed on up to this length, characters. */
const MAX_BODY_CHARS = 4 * 1024 * 1024 + 1;
/** How often autocannon looks whether it has come to its end, ms. */
const LOOK_MS = 100;
/** Autocannon's own end is only a net: every connection ends by itself before it. */
const NET_S = 10;

/**
 * Keeps so many requests in flight until the duration is over or no more may be sent, and reports every reply. Closed loop
 * only: autocannon's rate mode sends in bursts and corrects latencies by invented values (p50 of 52 ms for a true
 * 100 ms), so it is never used. Its own counters are not used either: it does not count connections that the server closes
 * without an answer.
 */
export async function closedLoopPeak(options: PeakOptions): Promise<void> {
  const { url, headers, connections, durationS, answerS, stop } = options;
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
        duration: durationS + answerS + NET_S,
        timeout: answerS,
        sampleInt: LOOK_MS,
        requests: [
          {
            method: "POST" as const,
            headers: { ...headers },
            body: options.body,
            // Called just before the event `response`.
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
            answerUs: answerS * 1_000_000,
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
  readonly answerUs: number;
}

/** Listens to one connection: each request that it starts ends in exactly one call of `onReply`. */
function follow(client: Client, connection: number, { maySend, onReply, body, answerUs }: Following): void {
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
  client.on("request", () => {
    // Started again without an event for the one before: the server closed the connection, or it took too long.
    ended(sentUs !== undefined && nowUs() - sentUs >= answerUs * 0.99 ? "deadline" : "reset");
    if (maySend()) {
      sentUs = nowUs();
      headUs = undefined;
      head = undefined;
      return;
    }
    client.destroy();
    // It sets its timer once more after this, which would connect again.
    setImmediate(() => client.timeoutTicker.clear());
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
