import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { UsageError } from "../../core/index.ts";

export type Route = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export interface LocalServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
}

export interface LocalServerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** The option that set the port, for the message. */
  readonly option: string;
  /** Responses by path. */
  readonly routes: ReadonlyMap<string, Route>;
}

/** How long clients may take to disconnect after the end event, ms. */
const GO_MS = 500;
const MAX_CONNECTIONS = 64;

/** For every response: a page may load resources of this server, and nothing else. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/**
 * Serves GET requests on 127.0.0.1, for this machine only. Requests with another host name are rejected: otherwise another site
 * could read them by pointing its own name here (DNS rebinding). The server does not keep the process alive.
 *
 * @throws UsageError when the port is taken.
 */
export async function startLocalServer({ port, option, routes }: LocalServerOptions): Promise<LocalServer> {
  let hosts: readonly string[] = [];
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const refuse = (status: number, text: string) => {
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
      response.end(`${text}\n`);
    };
    if (!hosts.includes(request.headers.host ?? "")) return refuse(403, `this server is ${hosts.join(" or ")}`);
    if (request.method !== "GET" && request.method !== "HEAD") return refuse(405, "only GET is supported");
    const [path = "/"] = (request.url ?? "/").split("?");
    const route = routes.get(path);
    if (route === undefined) return refuse(404, `there is ${[...routes.keys()].join(", ")}`);
    // A failed response must not end the run.
    Promise.resolve(route(request, response)).catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("connection", (socket) => socket.unref());
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    throw new UsageError(`port ${port} of 127.0.0.1 cannot be used: ${(error as Error).message}`, {
      hint: `Choose another one with ${option}; 0 is any free one.`,
      cause: error,
    });
  }
  server.unref();
  const at = (server.address() as AddressInfo).port;
  hosts = [`127.0.0.1:${at}`, `localhost:${at}`];
  return {
    origin: `http://127.0.0.1:${at}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), GO_MS);
      await closed;
      clearTimeout(cut);
    },
  };
}
