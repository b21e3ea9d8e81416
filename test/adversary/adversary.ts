import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { Behaviour, Request } from "./behaviour.ts";
import { whole } from "./behaviour.ts";

export interface Adversary extends AsyncDisposable {
  readonly baseUrl: string;
  /** Requests to the other host. It must never receive any. */
  readonly trapped: readonly string[];
  /** Requests that arrived. */
  readonly requests: () => number;
}

const MODELS = JSON.stringify({ object: "list", data: [{ id: "plain", object: "model" }] });

/**
 * A gateway with a given behaviour, on raw sockets.
 *
 * @param everywhere whether the model list behaves like that as well; otherwise it is valid.
 */
export async function adversary(behaviour: Behaviour, everywhere: boolean): Promise<Adversary> {
  const trapped: string[] = [];
  const trap = await listen((socket) => {
    socket.on("data", (bytes) => trapped.push(bytes.toString("latin1")));
  });
  let count = 0;
  const stage = { trap: `http://127.0.0.1:${portOf(trap)}` };
  const server = await listen((socket) => {
    behaviour.onConnect?.(socket);
    readRequests(socket, (text) => {
      const request = requestOf(text, count++);
      if (!everywhere && request.path.endsWith("/models")) socket.write(whole(MODELS));
      else behaviour.respond?.(socket, request, stage);
    });
  });
  const port = portOf(server);
  return {
    baseUrl: `${behaviour.address?.(port) ?? `http://127.0.0.1:${port}`}/v1`,
    trapped,
    requests: () => count,
    async [Symbol.asyncDispose]() {
      await Promise.all([server.close(), trap.close()]);
    },
  };
}

interface Listening {
  readonly server: Server;
  close(): Promise<void>;
}

async function listen(take: (socket: Socket) => void): Promise<Listening> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // A client that is treated like this may well reset the connection.
    socket.on("error", () => undefined);
    take(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    server,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function portOf({ server }: Listening): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the adversary has no port");
  return address.port;
}

/** Maximum request that is read, characters: a longer one gets its response before it is complete. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;

function readRequests(socket: Socket, take: (text: string) => void): void {
  let buffered = "";
  socket.on("data", (bytes) => {
    buffered += bytes.toString("latin1");
    for (;;) {
      const end = buffered.indexOf("\r\n\r\n");
      if (end === -1) return;
      const length = Number(/content-length: *(\d+)/i.exec(buffered.slice(0, end))?.[1] ?? 0);
      const wholeLength = Math.min(MAX_REQUEST_BYTES, end + 4 + length);
      if (buffered.length < wholeLength) return;
      take(buffered.slice(0, wholeLength));
      buffered = buffered.slice(wholeLength);
    }
  });
}

function requestOf(text: string, count: number): Request {
  const path = /^\S+ (\S+)/.exec(text)?.[1] ?? "";
  const key = /^authorization: *bearer +(\S+)/im.exec(text)?.[1] ?? "";
  return { text, path, key, count, streams: text.includes('"stream":true') };
}
