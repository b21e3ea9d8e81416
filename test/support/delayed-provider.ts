import { type AddressInfo, createServer, type Socket } from "node:net";

/**
 * A provider of the chat dialect that delays responses by exact times. Started as a separate program with the delays as
 * arguments: `delayed-provider.ts RESPONSE FIRST EACH`, microseconds, for non-streaming responses, the first event of a stream
 * with its head, and each further one in addition to its usual gap. Prints its port. No wait is exact, so it measures the time
 * from the request to the write, and from event to event: `GET /taken` returns the medians since its last request, µs. Everything
 * is serialised in advance: a program that has just waited in a busy loop serialises faster than one that was asleep. Only
 * requests that have the program to themselves count: the others also wait for each other.
 */
const EVENTS = 6;
const GAP_US = 2_000;
/** Timers may be this late; the rest of a wait is spent in turns of the event loop. */
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

function json(body: object): Buffer {
  const text = JSON.stringify(body);
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n`;
  return Buffer.from(head + text);
}

/** An event, as a chunk of the body. */
function event(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return inChunk(
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`,
  );
}

const inChunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

const MODELS = json({ object: "list", data: [{ id: "m", object: "model" }] });
const REPLY = json({
  ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
  choices: [{ index: 0, message: { role: "assistant", content: "hello there" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
});
const STREAM_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const STREAM_END = `${event({}, "stop")}${inChunk("data: [DONE]\n\n")}0\r\n\r\n`;
/** What is written at a time: the head with the first events, then one event at a time, the last one with the end. */
const STREAM = Array.from({ length: EVENTS }, (_none, index) => {
  const before = index === 0 ? STREAM_HEAD + event({ role: "assistant", content: "" }) : "";
  return Buffer.from(before + event({ content: `word${index} ` }) + (index === EVENTS - 1 ? STREAM_END : ""));
});

async function sendStream(socket: Socket, startedUs: number): Promise<void> {
  let atUs = await until(startedUs + first);
  note(atUs - startedUs, "first");
  for (const [index, bytes] of STREAM.entries()) {
    if (index > 0) {
      const beforeUs = atUs;
      atUs = await until(beforeUs + GAP_US + each);
      note(atUs - beforeUs, "each");
    }
    socket.write(bytes);
  }
}

async function sendReply(socket: Socket, startedUs: number): Promise<void> {
  note((await until(startedUs + response)) - startedUs, "response");
  socket.write(REPLY);
}

async function respond(socket: Socket, head: string, body: string, startedUs: number): Promise<void> {
  if (head.startsWith("GET /taken")) socket.write(json(mediansOfTaken()));
  else if (head.startsWith("GET")) socket.write(MODELS);
  else {
    inFlight++;
    await (body.includes('"stream":true') ? sendStream : sendReply)(socket, startedUs);
    inFlight--;
  }
}

const server = createServer({ noDelay: true }, (socket) => {
  let buffer = "";
  socket.setEncoding("latin1");
  socket.on("error", () => undefined);
  socket.on("data", (part: string) => {
    const startedUs = nowUs();
    buffer += part;
    const headEnd = buffer.indexOf("\r\n\r\n");
    if (headEnd === -1) return;
    const head = buffer.slice(0, headEnd);
    const end = headEnd + 4 + Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (buffer.length < end) return;
    const body = buffer.slice(headEnd + 4, end);
    buffer = buffer.slice(end);
    void respond(socket, head, body, startedUs);
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
// It ends with the process that started it.
process.on("disconnect", () => process.exit(0));
