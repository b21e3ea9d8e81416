/**
 * What it costs to read a 2xx reply of 1 kB as the load engine does, compared with `JSON.parse` alone, the minimum for reading a
 * reply. Five runs in turn; medians.
 *
 *     npm run bench:replies
 */
import { performance } from "node:perf_hooks";
import { median } from "../src/core/index.ts";
import { LoadExchange, type PreparedRequest } from "../src/http/load-client/load-exchange.ts";

const REPLIES = 200_000;
const RUNS = 5;
const REPLY_BYTES = 1_000;
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

const reply = (text: string) =>
  JSON.stringify({
    ...{ id: "chatcmpl-1", object: "chat.completion", created: 1_764_000_000, model: "m" },
    choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
    usage: { prompt_tokens: 12, completion_tokens: 120, total_tokens: 132 },
  });
const body = Buffer.from(reply("lorem ipsum ".repeat(100).slice(0, REPLY_BYTES - reply("").length)));
const prepared: PreparedRequest = {
  url: "http://127.0.0.1:1/v1/chat/completions",
  ...{ dialect: "chat", stream: false, bytes: Buffer.alloc(0), key: "key.valid", capture: false },
};

/** One reply through the load engine's exchange. @param status its status: only a 2xx is read. */
function receive(status: number): void {
  const exchange = new LoadExchange(prepared, 0, 0);
  exchange.onHead(status, HEAD);
  exchange.onBody(body, 0, body.length);
  exchange.onEnd(true);
  if (exchange.defect !== undefined) throw new Error(`a usable reply is ${exchange.defect}`);
}

const kinds: Record<string, () => void> = {
  "a 2xx reply, read": () => receive(200),
  "a reply that is not read": () => receive(199),
  "JSON.parse alone": () => {
    JSON.parse(body.toString("latin1"));
  },
};

function usPerReply(act: () => void): number {
  const startMs = performance.now();
  for (let index = 0; index < REPLIES; index++) act();
  return ((performance.now() - startMs) * 1_000) / REPLIES;
}

const runs: Record<string, number[]> = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
for (const act of Object.values(kinds)) usPerReply(act);
for (let run = 0; run < RUNS; run++) for (const [kind, act] of Object.entries(kinds)) runs[kind]?.push(usPerReply(act));
const medians = Object.fromEntries(Object.entries(runs).map(([kind, all]) => [kind, median(all)]));
console.table(
  Object.fromEntries(Object.entries(medians).map(([kind, us]) => [kind, { "µs per reply": us.toFixed(2) }])),
);
const [read = 0, unread = 0, parsed = 0] = Object.values(medians);
console.log(
  `reading a reply of ${body.length} bytes: ${(read - unread).toFixed(2)} µs, ${((read - unread) / parsed).toFixed(2)} of JSON.parse`,
);
