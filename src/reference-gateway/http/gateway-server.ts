import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { fastify } from "fastify";
import type { Endpoint } from "../endpoint.ts";
import { type Arrival, type Behaviour, Call, type Connection, type Purpose } from "../pipeline/behaviour.ts";
import { readJsonBody } from "../pipeline/read/read-body.ts";
import { refusal } from "../pipeline/refusal.ts";
import { runCall } from "../pipeline/run-call.ts";
import type { Services } from "../services.ts";
import { receiveBody } from "./receive-body.ts";

interface Route {
  readonly path: string;
  readonly endpoint: Endpoint;
  readonly methods: readonly string[];
}

/** The whole interface. */
const ROUTES: readonly Route[] = [
  { path: "/v1/chat/completions", endpoint: "chat", methods: ["POST"] },
  { path: "/v1/messages", endpoint: "messages", methods: ["POST"] },
  { path: "/v1/models", endpoint: "models", methods: ["GET", "HEAD"] },
];

const BY_PATH: ReadonlyMap<string, Route> = new Map(ROUTES.map((route) => [route.path, route]));

/** Idle connections are kept longer than by any common proxy or client, so that we never close first. */
const KEEP_ALIVE_MS = 75_000;

/** How long a request may take to arrive; a client that stops in the middle must not hold the connection forever. */
const REQUEST_TIMEOUT_MS = 120_000;

/** Large enough that a very long credential gets the same response as any other invalid one. */
const MAX_HEADER_BYTES = 256 * 1_024;

interface ServerSettings {
  readonly services: Services;
  /** Called once per request. */
  behaviour(): Behaviour;
  /** Largest request body, bytes. */
  readonly bodyLimitBytes: number;
  /** Prefix of the request ids of this gateway. */
  readonly idPrefix: string;
}

/** The public side of a gateway. Fastify does the routing; the pipeline handles the requests. */
export function gatewayServer(settings: ServerSettings) {
  const app = fastify({
    logger: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    clientErrorHandler: respondToParseError,
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      take("other", "unknownPath", request.raw, reply.raw);
    },
    routerOptions: { ignoreTrailingSlash: true },
  });
  let calls = 0;
  const connectionOf = connectionCounter();

  const take = (endpoint: Endpoint, purpose: Purpose, request: IncomingMessage, response: ServerResponse) => {
    const { services, idPrefix } = settings;
    calls += 1;
    const arrival: Arrival = {
      endpoint,
      purpose,
      method: request.method ?? "",
      url: request.url ?? "",
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      connection: connectionOf(request.socket),
      arrivedUs: services.clock.monotonicUs(),
      arrivedMs: services.clock.nowMs(),
    };
    const call = new Call(
      `${idPrefix}${calls.toString(36).padStart(8, "0")}`,
      calls,
      arrival,
      services,
      settings.behaviour(),
    );
    if (!call.behaviour.readsBody(call)) {
      response.shouldKeepAlive = false;
      runCall(call, response);
      return;
    }
    receiveBody(request, settings.bodyLimitBytes, (received) => {
      if (received.kind === "tooLarge") call.bodyError = refusal("request_too_large");
      else if (purpose === "serve" && endpoint !== "models") readInto(call, received.bytes);
      runCall(call, response);
    });
  };

  // Taken over before Fastify reads the body: the pipeline needs the raw bytes. Root hooks also run for unknown paths and
  // methods.
  app.addHook("onRequest", (request, reply, _done) => {
    const { raw } = request;
    reply.hijack();
    const route = routeAt(raw.url ?? "");
    if (route === undefined) take("other", "unknownPath", raw, reply.raw);
    else take(route.endpoint, purposeOf(route, raw.method ?? ""), raw, reply.raw);
  });
  for (const { path } of ROUTES) app.all(path, unreachable);
  app.setNotFoundHandler(unreachable);
  return app;
}

/** Numbers connections in the order of their first requests, and counts the requests of each. */
function connectionCounter(): (socket: Socket) => Connection {
  let connections = 0;
  const facts = new WeakMap<Socket, { id: number; served: number }>();

  return (socket) => {
    let known = facts.get(socket);
    if (known === undefined) {
      connections += 1;
      known = { id: connections, served: 0 };
      facts.set(socket, known);
    }
    const { id, served } = known;
    known.served += 1;
    return { id, served };
  };
}

/** The hook takes over every request before its handler. */
function unreachable(): never {
  throw new Error("a request got past the hook that takes it over");
}

function readInto(call: Call, bytes: Buffer): void {
  if (!looksLikeJson(call.arrival.headers)) {
    call.bodyError = refusal("unsupported_media_type");
    return;
  }
  const { text, value, mutation } = readJsonBody(bytes);
  call.bodyText = text;
  call.parsed = value;
  call.bodyError = mutation;
}

/**
 * True for a body labelled as JSON, or not labelled: some clients omit the label. Compressed bodies are not accepted, because a
 * few kilobytes may decompress to gigabytes.
 */
function looksLikeJson(headers: IncomingHttpHeaders): boolean {
  const coding = headers["content-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "identity") return false;
  const type = headers["content-type"];
  if (type === undefined) return true;
  const end = type.indexOf(";");
  const media = (end < 0 ? type : type.slice(0, end)).trim().toLowerCase();
  return media === "application/json" || (media.startsWith("application/") && media.endsWith("+json"));
}

const PARSE_ERRORS: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "The request's header fields are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request did not arrive in time."],
};

/**
 * Responds to bytes that are not an HTTP request. The connection cannot be reused, because the start of the next request is
 * unknown.
 */
function respondToParseError(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] = PARSE_ERRORS[error.code ?? ""] ?? ["400 Bad Request", "The request is not valid HTTP."];
  const body = JSON.stringify({
    error: { message, type: "invalid_request_error", code: Number(status.slice(0, 3)), param: null },
  });
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      "X-Service-Error-Code: invalid_request",
      "Content-Type: application/json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}

/** What a method means on a path that exists. */
function purposeOf(route: Route, method: string): Purpose {
  if (route.methods.includes(method)) return "serve";
  return method === "OPTIONS" ? "options" : "wrongMethod";
}

/** @param url path and query as sent; one trailing slash of the path is ignored. */
function routeAt(url: string): Route | undefined {
  const query = url.indexOf("?");
  const path = query < 0 ? url : url.slice(0, query);
  return BY_PATH.get(path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path);
}
