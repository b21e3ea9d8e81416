import { createServer, type Socket } from "node:net";
import { type Listening, listening } from "./listening.ts";

export interface RawServer extends Listening {
  /** Every request as it arrived, head and body. */
  readonly requests: string[];
  /** How many connections were opened. */
  readonly connections: () => number;
}

/**
 * A server that responds with bytes chosen by the test, to send responses that no HTTP library would.
 *
 * @param respond called once per request, when its head and declared body have arrived.
 */
export async function rawServer(
  respond: (socket: Socket, request: string, count: number) => void | Promise<void>,
): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    let buffered = "";
    socket.on("data", (bytes) => {
      buffered += bytes.toString("latin1");
      for (;;) {
        const head = buffered.indexOf("\r\n\r\n");
        if (head === -1) return;
        const length = Number(/content-length: *(\d+)/i.exec(buffered.slice(0, head))?.[1] ?? 0);
        if (buffered.length < head + 4 + length) return;
        const request = buffered.slice(0, head + 4 + length);
        buffered = buffered.slice(head + 4 + length);
        requests.push(request);
        void respond(socket, request, requests.length);
      }
    });
  });
  const open = await listening(server, () => {
    for (const socket of sockets) socket.destroy();
  });
  return { ...open, requests, connections: () => connections };
}

/** A response with a correct length. */
export function response(body: string, { status = "200 OK", headers = "" } = {}): string {
  const length = Buffer.byteLength(body);
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n${headers}\r\n${body}`;
}
