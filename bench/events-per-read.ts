/**
 * What it costs to find the events of a stream if a read returns one, 16 or 256 of them: Gauntlet's scanner, eventsource-parser,
 * and a plain read of the socket. The sender waits for a byte after each write, so that each read returns what was written.
 *
 *     npm run bench:events
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { createParser } from "eventsource-parser";
import { median } from "../src/core/index.ts";
import { EventScanner } from "../src/http/load-client/body/event-scanner.ts";

const EVENTS_PER_READ = [1, 16, 256];
const RUNS = 5;
const READS = 40_000;
/** Fewer reads if each returns many events. */
const MAX_EVENTS = 1_000_000;

const EVENT = `data: ${JSON.stringify({
  ...{ id: "chatcmpl-7f3a9c21", object: "chat.completion.chunk", created: 1_760_000_000, model: "echo-stream" },
  choices: [{ index: 0, delta: { content: "word " }, finish_reason: null }],
})}\n\n`;

/** Writes a block, and the next one when the reader has acknowledged it. */
function send(): void {
  const server = createServer({ noDelay: true }, (socket) => {
    let [block, left] = [Buffer.alloc(0), 0];
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      if (block.length === 0) {
        const [events = 1, reads = 1] = bytes.toString().split(" ").map(Number);
        block = Buffer.from(EVENT.repeat(events));
        left = reads;
      }
      if (left-- > 0) socket.write(block);
      else socket.end();
    });
  });
  process.on("disconnect", () => process.exit(0));
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
}

/** A reader: receives each piece, and reports at the end how many events it found. */
interface Reader {
  readonly feed: (bytes: Buffer) => void;
  readonly found: () => number;
}

const READERS: Record<string, () => Reader> = {
  "raw read": () => ({ feed: () => undefined, found: () => 0 }),
  "gauntlet's scanner": () => {
    const scanner = new EventScanner();
    return { feed: (bytes) => scanner.feed(bytes.toString("latin1")), found: () => scanner.contentEvents };
  },
  "eventsource-parser": () => withParser(() => true),
  "eventsource-parser and JSON.parse": () => withParser((data) => Boolean(JSON.parse(data).choices[0].delta.content)),
};

function withParser(isToken: (data: string) => boolean): Reader {
  let found = 0;
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: ({ data }) => {
      if (isToken(data)) found++;
    },
  });
  return { feed: (bytes) => parser.feed(decoder.decode(bytes, { stream: true })), found: () => found };
}

async function compare(): Promise<void> {
  const sender = fork(fileURLToPath(import.meta.url), ["--send"], { execArgv: process.execArgv });
  const [port] = (await once(sender, "message")) as [number];
  for (const events of EVENTS_PER_READ) {
    const reads = Math.min(READS, Math.floor(MAX_EVENTS / events));
    const measured = new Map<string, number[]>();
    for (let round = 0; round < RUNS; round++)
      for (const [name, reader] of Object.entries(READERS))
        measured.set(name, [...(measured.get(name) ?? []), await cpuNsPerEvent(port, { events, reads }, reader())]);
    const raw = median(measured.get("raw read") ?? []);
    const rows = [...measured].map(([name, values]) => {
      const all = median(values);
      return [name, { "CPU ns per event": Math.round(all), "above the raw read": Math.round(all - raw) }] as const;
    });
    console.log(`${events} event${events === 1 ? "" : "s"} of ${EVENT.length} bytes per read, median of ${RUNS} runs`);
    console.table(Object.fromEntries(rows));
  }
  sender.disconnect();
}

async function cpuNsPerEvent(
  port: number,
  { events, reads }: { readonly events: number; readonly reads: number },
  { feed, found }: Reader,
): Promise<number> {
  let bytesRead = 0;
  const bytesPerRead = EVENT.length * events;
  const buffer = Buffer.allocUnsafe(256 * 1_024);
  const before = process.cpuUsage();
  const socket = connect({
    ...{ host: "127.0.0.1", port, noDelay: true },
    onread: {
      buffer,
      callback: (count) => {
        feed(buffer.subarray(0, count));
        bytesRead += count;
        if (bytesRead % bytesPerRead === 0) socket.write("n");
        return true;
      },
    },
  });
  socket.write(`${events} ${reads}`);
  await once(socket, "close");
  const { user, system } = process.cpuUsage(before);
  const expected = events * reads;
  if (bytesRead !== bytesPerRead * reads)
    throw new Error(`${bytesRead} bytes were read, ${bytesPerRead * reads} were sent`);
  if (found() !== 0 && found() !== expected) throw new Error(`${found()} of ${expected} events were found`);
  return ((user + system) * 1_000) / expected;
}

if (process.argv[2] === "--send") send();
else await compare();
