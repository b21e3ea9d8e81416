/**
 * A lean client for `streams.ts`: `lean-streams.ts URL IN_FLIGHT SECONDS` keeps this many streams open with undici, parses their
 * events with eventsource-parser, and records the time to each first event.
 */
import { createParser } from "eventsource-parser";
import { Pool } from "undici";

const [url = "", inFlight = "1", seconds = "1"] = process.argv.slice(2);
const { origin, pathname } = new URL(url);
const pool = new Pool(origin, { connections: Number(inFlight), pipelining: 1, bodyTimeout: 0 });
const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "hello" }] });
const endMs = performance.now() + Number(seconds) * 1_000;
let [events, streams] = [0, 0];
const ttftMs: number[] = [];

async function one(): Promise<void> {
  while (performance.now() < endMs) {
    const sentMs = performance.now();
    let isFirst = true;
    const parser = createParser({
      onEvent: () => {
        events++;
        if (isFirst) ttftMs.push(performance.now() - sentMs);
        isFirst = false;
      },
    });
    const response = await pool.request({
      ...{ path: pathname, method: "POST", headers: { "content-type": "application/json" }, body },
    });
    const decoder = new TextDecoder();
    for await (const piece of response.body) parser.feed(decoder.decode(piece, { stream: true }));
    streams++;
  }
}

await Promise.all(
  Array.from({ length: Number(inFlight) }, async (_none, index) => {
    await new Promise((resolve) => setTimeout(resolve, (index / Number(inFlight)) * 1_000));
    await one();
  }),
);
await pool.close();
console.log(JSON.stringify({ events, streams, first: ttftMs.length }));
