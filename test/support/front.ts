import { createServer, type IncomingMessage, request as send } from "node:http";
import type { TestServer } from "./judge.ts";
import { listening } from "./listening.ts";

/** A response of the proxy instead of the gateway's. */
export interface CustomResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface FrontOptions {
  /** Responds itself, without contacting the gateway. @param path below the base address, such as `/messages`. */
  readonly intercept?: (path: string) => CustomResponse | undefined;
  /** Delays a request until this resolves, before it is forwarded. */
  readonly hold?: (path: string) => Promise<unknown> | undefined;
  /** Rewrites a refusal of the gateway, 4xx or 5xx. */
  readonly reword?: (refusal: CustomResponse, path: string, key: string | undefined) => CustomResponse;
}

/**
 * A proxy in front of a gateway that forwards everything as it arrives, including streams and disconnections, except for its
 * changes.
 */
export async function startProxy(baseUrl: string, { intercept, hold, reword }: FrontOptions): Promise<TestServer> {
  const upstream = new URL(baseUrl);
  const pathOf = ({ url = "" }: IncomingMessage) => url.replace(/^\/v1/, "").replace(/\?.*$/, "");
  const server = createServer(async (request, response) => {
    const path = pathOf(request);
    const own = intercept?.(path);
    if (own !== undefined) {
      request.resume();
      response.writeHead(own.status, own.headers).end(own.body);
      return;
    }
    await hold?.(path);
    if (response.destroyed) return;
    const onward = send({
      host: upstream.hostname,
      port: upstream.port,
      method: request.method,
      path: request.url,
      headers: request.rawHeaders,
      setHost: false,
    });
    let hasResponse = false;
    // A gateway may refuse before it has read the body, and close: its response is on its way then.
    onward.on("error", () => hasResponse || response.destroy());
    response.on("close", () => onward.destroy());
    onward.on("response", async (relayed) => {
      hasResponse = true;
      relayed.on("close", () => relayed.complete || response.destroy());
      const { statusCode = 502 } = relayed;
      if (reword === undefined || statusCode < 400) {
        response.writeHead(statusCode, relayed.rawHeaders);
        relayed.pipe(response);
        return;
      }
      const chunks: Buffer[] = [];
      for await (const chunk of relayed) chunks.push(chunk as Buffer);
      const headers = Object.fromEntries(Object.entries(relayed.headers).map(([name, value]) => [name, String(value)]));
      delete headers["content-length"];
      delete headers["transfer-encoding"];
      const said = reword(
        { status: statusCode, headers, body: Buffer.concat(chunks).toString("utf8") },
        path,
        keyOf(request),
      );
      response.writeHead(said.status, said.headers).end(said.body);
    });
    request.pipe(onward);
  });
  const open = await listening(server, () => server.closeAllConnections());
  return { ...open, baseUrl: `${open.origin}/v1` };
}

function keyOf({ headers }: IncomingMessage): string | undefined {
  return headers.authorization?.replace(/^Bearer /, "") ?? headers["x-api-key"]?.toString();
}

/** A gateway without one of its dialects: its paths do not exist. */
export function without(dialect: "chat" | "messages"): FrontOptions {
  const gone = dialect === "chat" ? /^\/chat\/completions/ : /^\/messages/;
  const notFound = { status: 404, headers: { "Content-Type": "application/json" }, body: '{"detail":"Not Found"}' };
  return { intercept: (path) => (gone.test(path) ? notFound : undefined) };
}
