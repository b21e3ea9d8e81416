import { createServer, request as send } from "node:http";
import { fileURLToPath } from "node:url";
import { listening } from "./listening.ts";

/** A request that went through the proxy. */
export interface Counted {
  readonly path: string;
  /** Key of the request; empty if it had none. */
  readonly key: string;
  status: number;
  reason: string | undefined;
  readonly atMs: number;
}

/** A host name that makes the proxy look like another host. */
export const OTHER_HOST = "gateway.example.test";
export const RESOLVE_TO_LOOPBACK = {
  NODE_OPTIONS: `--import=${fileURLToPath(new URL("./resolve-to-loopback.mjs", import.meta.url))}`,
};

/** Starts a proxy in front of a gateway that records every request. */
export async function countingProxy(baseUrl: string) {
  const { port: gatewayPort } = new URL(baseUrl);
  const all: Counted[] = [];
  const server = createServer((request, response) => {
    const key = request.headers.authorization?.replace(/^Bearer /, "") ?? String(request.headers["x-api-key"] ?? "");
    const entry: Counted = { path: request.url ?? "", key, status: 0, reason: undefined, atMs: performance.now() };
    all.push(entry);
    const { method = "GET", url = "/", rawHeaders } = request;
    const headers: Record<string, string> = {};
    for (let at = 0; at < rawHeaders.length; at += 2) headers[rawHeaders[at] ?? ""] = rawHeaders[at + 1] ?? "";
    const onward = send({ host: "127.0.0.1", port: gatewayPort, method, path: url, headers }, (reply) => {
      entry.status = reply.statusCode ?? 0;
      entry.reason = reply.headers["x-service-error-code"] as string | undefined;
      response.writeHead(entry.status, reply.rawHeaders);
      reply.pipe(response);
      reply.on("error", () => response.destroy());
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  const open = await listening(server, () => server.closeAllConnections());
  return { ...open, all };
}
