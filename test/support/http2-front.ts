import { Agent, request } from "node:http";
import { createServer, type ServerHttp2Session } from "node:http2";
import { listening } from "./listening.ts";

export interface Http2Front extends AsyncDisposable {
  readonly baseUrl: string;
}

/** Specific to one HTTP/1.1 connection (RFC 9113, 8.2.2). */
const HOP_BY_HOP = /^(?::.*|connection|keep-alive|transfer-encoding|upgrade|proxy-connection|host)$/;

/** An HTTP/2 proxy without TLS in front of an HTTP/1.1 gateway, like an edge. @param baseUrl of the gateway. */
export async function http2Front(baseUrl: string): Promise<Http2Front> {
  const behind = new URL(baseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => undefined);
  });
  server.on("stream", (stream, headers) => {
    const kept = Object.entries(headers).filter(([name]) => !HOP_BY_HOP.test(name));
    const options = { agent, method: String(headers[":method"]), headers: Object.fromEntries(kept) as never };
    const onward = request(new URL(String(headers[":path"]), behind.origin), options, (relayed) => {
      const relayedHeaders = Object.entries(relayed.headers).filter(([name]) => !HOP_BY_HOP.test(name));
      if (stream.destroyed) return;
      stream.respond({ ":status": relayed.statusCode ?? 502, ...Object.fromEntries(relayedHeaders) });
      relayed.pipe(stream);
      relayed.on("aborted", () => stream.destroy(new Error("cut behind the front")));
    });
    onward.on("error", () => stream.destroy(new Error("no response from behind the front")));
    stream.on("error", () => undefined);
    // A disconnection on this side is one on the other side.
    stream.on("close", () => onward.destroy());
    stream.pipe(onward);
  });
  const open = await listening(server, () => {
    for (const session of sessions) session.destroy();
    agent.destroy();
  });
  return { ...open, baseUrl: `${open.origin}${behind.pathname}` };
}
