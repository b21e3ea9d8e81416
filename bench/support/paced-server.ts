/**
 * The server of the benchmarks, a separate process: replies after a fixed time, streams on an exact schedule, and reports at the
 * end what it received and what it really did. Started by `startPacedServer`.
 */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type Percentiles, percentilesOf } from "./percentiles.ts";

/** Times in milliseconds. */
export interface Pacing {
  /** From a request to its non-streaming reply. */
  readonly latencyMs: number;
  /** From a request to the first event of its stream. */
  readonly firstMs: number;
  readonly gapMs: number;
  /** Content events of a stream. */
  readonly events: number;
  /** Size of the body of a non-streaming reply, bytes; at least that of `SHORTEST`. */
  readonly replyBytes: number;
}

/** What the server measured. */
export interface Truth {
  readonly requests: number;
  readonly events: number;
  readonly peakInFlight: number;
  /** Wall clock of the first request, ms since the epoch. */
  readonly firstAtMs: number;
  /** Moments of the arrivals, ms. */
  readonly arrivalsMs: readonly number[];
  readonly ttftMs: Percentiles;
  readonly gapMs: Percentiles;
}

const pacing = JSON.parse(process.argv[2] ?? "{}") as Pacing;
const arrivalsMs: number[] = [];
const ttftMs: number[] = [];
const gapMs: number[] = [];
let [events, inFlight, peakInFlight, firstAtMs] = [0, 0, 0, 0];

const inChunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const event = (delta: object, finish: string | null = null) =>
  inChunk(`data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);

const SHORTEST = '{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}';
const REPLY = SHORTEST.replace(
  '"ok"',
  `"ok${" and so on".repeat(200).slice(0, Math.max(0, pacing.replyBytes - SHORTEST.length))}"`,
);
const WHOLE = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${REPLY.length}\r\n\r\n${REPLY}`,
);
const FIRST = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${event({ content: "word " })}`,
);
const NEXT = Buffer.from(event({ content: "word " }));
const LAST = Buffer.from(`${event({ content: "word " })}${event({}, "stop")}${inChunk("data: [DONE]\n\n")}0\r\n\r\n`);

function begin(): number {
  if (firstAtMs === 0) firstAtMs = Date.now();
  const now = performance.now();
  arrivalsMs.push(now);
  inFlight++;
  peakInFlight = Math.max(peakInFlight, inFlight);
  return now;
}

function stream(socket: Socket): void {
  const startMs = begin();
  let sent = 0;
  let lastMs = startMs;
  const next = () => {
    if (socket.destroyed) {
      inFlight--;
      return;
    }
    const now = performance.now();
    (sent === 0 ? ttftMs : gapMs).push(now - lastMs);
    lastMs = now;
    sent++;
    events++;
    socket.write(sent === 1 ? FIRST : sent < pacing.events ? NEXT : LAST);
    if (sent < pacing.events) {
      const dueMs = startMs + pacing.firstMs + sent * pacing.gapMs;
      setTimeout(next, Math.max(0, dueMs - performance.now()));
    } else inFlight--;
  };
  setTimeout(next, pacing.firstMs);
}

function reply(socket: Socket): void {
  begin();
  setTimeout(() => {
    inFlight--;
    socket.write(WHOLE);
  }, pacing.latencyMs);
}

const server = createServer({ noDelay: true }, (socket) => {
  let held = "";
  socket.setEncoding("latin1");
  socket.on("error", () => undefined);
  socket.on("data", (piece: string) => {
    held += piece;
    const headEnd = held.indexOf("\r\n\r\n");
    if (headEnd === -1) return;
    const end = headEnd + 4 + Number(/content-length: *(\d+)/i.exec(held.slice(0, headEnd))?.[1] ?? 0);
    if (held.length < end) return;
    const isStream = held.includes('"stream":true');
    held = held.slice(end);
    (isStream ? stream : reply)(socket);
  });
});
process.on("message", () => {
  const truth = { requests: arrivalsMs.length, events, peakInFlight, firstAtMs, arrivalsMs };
  process.send?.({ ...truth, ttftMs: percentilesOf(ttftMs), gapMs: percentilesOf(gapMs) } satisfies Truth);
});
process.on("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", 4_096, () => process.send?.((server.address() as AddressInfo).port));
