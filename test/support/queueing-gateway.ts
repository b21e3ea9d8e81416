import { Agent, createServer, request as send } from "node:http";
import { type Listening, listening } from "./listening.ts";

/** A gateway with this many connections to its upstream: further requests wait until one is free. */
export async function queueingGateway(upstream: string, connections: number): Promise<Listening> {
  const { hostname, port, pathname } = new URL(upstream);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const server = createServer((request, response) => {
    const path = pathname + (request.url ?? "").replace(/^\/v1/, "");
    const { method, headers } = request;
    const onward = send({ agent, hostname, port, path, method, headers }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers);
      upstream.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  return listening(server, () => {
    server.closeAllConnections();
    agent.destroy();
  });
}
