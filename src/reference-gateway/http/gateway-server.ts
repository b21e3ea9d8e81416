import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { fastify } from "fastify";
import type { Endpoint } from "../endpoint.ts";
import type { Behaviour } from "../pipeline/behaviour.ts";
import { type Arrival, Call, type Connection, type Purpose } from "../pipeline/behaviour.ts";
import { readJsonBody } from "../pipeline/read/read-body.ts";
import { refusal } from "../pipeline/refusal.ts";
import { runCall } from "../pipeline/run-call.ts";
import type { Services } from "../services.ts";
import { looksLikeJson } from "./content-type.ts";
import { respondToParseError } from "./parse-error.ts";
import { purposeOf, ROUTES, routeAt } from "./paths.ts";
import { receiveBody } from "./receive-body.ts";

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
