import { Agent, request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

/** How the body of a response ended. */
export type End = "complete" | "aborted" | "refused" | "hangs";

export interface Reply {
  /** 0 without a response. */
  readonly status: number;
  /** Names in lower case; several values are joined with a comma and a space. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names as they were sent. */
  readonly headerNames: readonly string[];
  readonly bytes: Buffer;
  /** Pieces of the body with the milliseconds from the request to their arrival. */
  readonly pieces: readonly { readonly atMs: number; readonly bytes: Buffer }[];
  readonly end: End;
  readonly error: string | undefined;
}

export interface TestRequest {
  readonly method?: string;
  /** Below the base address, e.g. `/models`. */
  readonly path: string;
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, text and bytes unchanged. */
  readonly body?: unknown;
  readonly agent?: Agent | undefined;
  /** Times out this long after the last byte. Default: 10,000; some variants start after 5,000. */
  readonly idleMs?: number;
  readonly signal?: AbortSignal;
  /** Called with every piece. */
  onPiece?(bytes: Buffer): void;
}

/** One request, with Node's own client: the harness must not test its own reference gateway with its own client. */
export function sendTo(baseUrl: string, requested: TestRequest): Promise<Reply> {
  const { path, key, body, agent, idleMs = 10_000, signal } = requested;
  const payload = body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const headers: Record<string, string> = { ...requested.headers };
  if (key !== undefined) headers["Authorization"] ??= `Bearer ${key}`;
  if (payload !== undefined) {
    headers["Content-Type"] ??= "application/json";
    headers["Content-Length"] ??= String(Buffer.byteLength(payload));
  }
  const startMs = performance.now();
  return new Promise((resolve) => {
    const pieces: { atMs: number; bytes: Buffer }[] = [];
    let head: Pick<Reply, "status" | "headers" | "headerNames"> = { status: 0, headers: {}, headerNames: [] };
    let settled = false;
    const settle = (end: End, error?: string) => {
      if (settled) return;
      settled = true;
      resolve({ ...head, bytes: Buffer.concat(pieces.map((piece) => piece.bytes)), pieces, end, error });
    };
    const sent = request(`${baseUrl}${path}`, {
      method: requested.method ?? (payload === undefined ? "GET" : "POST"),
      headers,
      agent: agent ?? false,
      ...(signal === undefined ? {} : { signal }),
    });
    sent.setTimeout(idleMs, () => {
      settle("hangs");
      sent.destroy();
    });
    sent.on("error", (error: NodeJS.ErrnoException) =>
      settle(head.status === 0 ? "refused" : "aborted", error.code ?? error.message),
    );
    sent.on("response", (response) => {
      head = { status: response.statusCode ?? 0, ...headersOf(response.rawHeaders) };
      response.on("data", (bytes: Buffer) => {
        pieces.push({ atMs: performance.now() - startMs, bytes });
        requested.onPiece?.(bytes);
      });
      response.on("end", () => settle(response.complete ? "complete" : "aborted"));
      response.on("error", (error: NodeJS.ErrnoException) => settle("aborted", error.code));
      response.on("close", () => settle("aborted"));
    });
    sent.on("upgrade", (response, socket) => {
      head = { status: response.statusCode ?? 0, ...headersOf(response.rawHeaders) };
      settle("aborted", "upgrade");
      socket.destroy();
    });
    sent.end(payload);
  });
}

function headersOf(raw: readonly string[]): Pick<Reply, "headers" | "headerNames"> {
  const headers: Record<string, string> = {};
  const headerNames: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? "";
    const value = raw[at + 1] ?? "";
    const known = headers[name.toLowerCase()];
    headers[name.toLowerCase()] = known === undefined ? value : `${known}, ${value}`;
    headerNames.push(name);
  }
  return { headers, headerNames };
}

/** The body, decompressed as its label says. Throws if the label is wrong. */
export function textOf({ bytes, headers }: Reply): string {
  switch (headers["content-encoding"]) {
    case "gzip":
      return gunzipSync(bytes).toString("utf8");
    case "br":
      return brotliDecompressSync(bytes).toString("utf8");
    default:
      return bytes.toString("utf8");
  }
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are compared with literals, member by member
export function jsonOf(reply: Reply): any {
  return JSON.parse(textOf(reply));
}

/** Events of an event stream: their names and data. */
export function eventsOf(reply: Reply): { name: string | undefined; data: string }[] {
  const events: { name: string | undefined; data: string }[] = [];
  for (const block of textOf(reply).split("\n\n")) {
    let name: string | undefined;
    const data: string[] = [];
    for (const line of block.split("\n")) {
      if (line.startsWith("event: ")) name = line.slice(7);
      else if (line.startsWith("data: ")) data.push(line.slice(6));
    }
    if (data.length > 0) events.push({ name, data: data.join("\n") });
  }
  return events;
}

/** The text of a streamed reply of either dialect. */
export function streamText(reply: Reply): string {
  return eventsOf(reply)
    .map(({ data }) => (data === "[DONE]" ? "" : incrementOf(JSON.parse(data))))
    .join("");
}

// biome-ignore lint/suspicious/noExplicitAny: either dialect's event
function incrementOf(data: any): string {
  return data.choices?.[0]?.delta?.content ?? data.delta?.text ?? "";
}

export const keepAlive = (maxSockets = 1): Agent => new Agent({ keepAlive: true, maxSockets });
