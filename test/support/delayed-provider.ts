import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A provider of the chat dialect that answers later by exact times. Started as a program of its own, with the delays as its
 * arguments: `delayed-provider.ts RESPONSE FIRST EACH`, microseconds, for non-streaming responses, the first event of a
 * stream with its head, and each further one beside its usual gap. Prints its port. No wait is exact, and a program that has just
 * waited in turns of its loop writes sooner than one that was asleep. So it measures how long it took from the request to the
 * written response, or first event, and from event to event: `GET /taken` has the medians since it was last asked, µs. Only
 * requests that have the program to themselves count: the others wait for each other as well.
 */
const EVENTS = 6;
const GAP_US = 2_000;
/** Timers may be so late; the rest of a wait is spent in turns of the loop. */
const TIMER_LATE_US = 1_500;

const [response = 0, first = 0, each = 0] = process.argv.slice(2).map(Number);
const nowUs = () => performance.now() * 1_000;

const taken = { response: [] as number[], first: [] as number[], each: [] as number[] };

let inFlight = 0;

function note(us: number, kind: keyof typeof taken): void {
  if (inFlight === 1) taken[kind].push(us);
}

function mediansOfTaken() {
  const medians = Object.entries(taken).map(([kind, all]) => {
    const sorted = all.splice(0).sort((a, b) => a - b);
    return [kind, sorted[sorted.length >> 1] ?? 0];
  });
  return Object.fromEntries(medians) as Record<keyof typeof taken, number>;
}

function until(dueUs: number): Promise<number> {
  return new Promise((resolve) => {
    const turn = () => {
      const leftUs = dueUs - nowUs();
      if (leftUs <= 0) resolve(nowUs());
      else if (leftUs > TIMER_LATE_US + 1_000) setTimeout(turn, Math.floor((leftUs - TIMER_LATE_US) / 1_000));
      else setImmediate(turn);
    };
    turn();
  });
}

const sendJson = (res: ServerResponse, body: object, status = 200) => {
  res.writeHead(status, { "content-type": "application/json" });
  res.end(JSON.stringify(body));
};

function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`;
}

async function stream(res: ServerResponse, startedUs: number): Promise<void> {
  if (first > 0) await until(startedUs + first);
  res.writeHead(200, { "content-type": "text/event-stream" });
  res.write(chunk({ role: "assistant", content: "" }));
  let at = nowUs();
  for (let event = 0; event < EVENTS; event++) {
    if (event > 0) {
      const before = at;
      at = await until(before + GAP_US + each);
      note(at - before, "each");
    }
    res.write(chunk({ content: `word${event} ` }));
    // What was written in this turn leaves the process at its end; a whole response has left it when it is ended.
    if (event === 0) process.nextTick(() => note(nowUs() - startedUs, "first"));
  }
  res.write(chunk({}, "stop"));
  res.end("data: [DONE]\n\n");
}

async function reply(res: ServerResponse, startedUs: number): Promise<void> {
  if (response > 0) await until(startedUs + response);
  const message = { role: "assistant", content: "hello there" };
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  sendJson(res, { id: "c", object: "chat.completion", created: 1, model: "m", choices, usage });
  note(nowUs() - startedUs, "response");
}

function answer(req: IncomingMessage, res: ServerResponse, body: string, startedUs: number): void {
  if (req.url === "/taken") sendJson(res, mediansOfTaken());
  else if (req.method === "GET") sendJson(res, { object: "list", data: [{ id: "m", object: "model" }] });
  else if (body.includes('"stream":true')) void stream(res, startedUs);
  else void reply(res, startedUs);
}

const server = createServer((req, res) => {
  const startedUs = nowUs();
  inFlight++;
  res.once("close", () => inFlight--);
  const parts: Buffer[] = [];
  req.on("data", (part: Buffer) => parts.push(part));
  req.on("end", () => answer(req, res, Buffer.concat(parts).toString(), startedUs));
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
// It ends with whoever started it.
process.on("disconnect", () => process.exit(0));
