import type { Socket } from "node:net";

/** A request as it arrived, as far as it matters to behaviours. */
export interface Request {
  readonly text: string;
  readonly path: string;
  readonly streams: boolean;
  readonly key: string;
  /** Number of earlier requests, on all connections. */
  readonly count: number;
}

/** What behaviours can use. */
export interface Stage {
  /** Origin of another host that must never receive a request. */
  readonly trap: string;
}

/** One way of being hostile or broken. */
export interface Behaviour {
  readonly name: string;
  /** Acts as soon as a client connects, before any request. */
  readonly onConnect?: (socket: Socket) => void;
  /** Responds to a request; absent: never responds. */
  readonly respond?: (socket: Socket, request: Request, stage: Stage) => void;
  /** Scheme and host of the base address, if they differ from those of the server. */
  readonly address?: (port: number) => string;
  /** Unusual and legal: a run against it may pass. */
  readonly harmless?: boolean;
  /** It rejects the key, so exit code 2 is correct. */
  readonly rejectsKey?: boolean;
  /** Nothing ever responds, so exit code 3 is correct. */
  readonly unreachable?: boolean;
}

/** Writes the same bytes repeatedly, as fast as they are read. */
export function flood(socket: Socket, bytes: Buffer | (() => Buffer)): void {
  const more = () => {
    while (!socket.destroyed && socket.write(typeof bytes === "function" ? bytes() : bytes));
  };
  socket.on("drain", more);
  more();
}

/** Writes one byte a second. */
export function drip(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ""), 1_000);
  socket.on("close", () => clearInterval(timer));
}

export const head = (status = "200 OK", ...fields: string[]): string =>
  [`HTTP/1.1 ${status}`, ...fields, "", ""].join("\r\n");

export const JSON_TYPE = "content-type: application/json";
export const EVENTS_TYPE = "content-type: text/event-stream";

/** A message with a correct length. */
export function whole(body: string | Buffer, status = "200 OK", ...fields: string[]): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(head(status, JSON_TYPE, `content-length: ${bytes.length}`, ...fields)), bytes]);
}

export const chunk = (body: string | Buffer): Buffer => {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
};

export const CHUNKED = "transfer-encoding: chunked";
export const EVENT = 'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"word "}}]}\n\n';

/** A valid reply of the chat dialect, except for what is inserted. */
export const reply = (more: object = {}): string =>
  JSON.stringify({
    id: "r1",
    object: "chat.completion",
    type: "message",
    role: "assistant",
    model: "plain",
    choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
    content: [{ type: "text", text: "hello" }],
    stop_reason: "end_turn",
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, input_tokens: 1, output_tokens: 1 },
    ...more,
  });

/** A denial as in the specification. */
export function denial(status: string, reason: string, ...fields: string[]): Buffer {
  const body = JSON.stringify({ error: { message: "no", type: reason, code: Number.parseInt(status, 10) } });
  return whole(body, status, `x-service-error-code: ${reason}`, "x-service-action: wait", ...fields);
}
