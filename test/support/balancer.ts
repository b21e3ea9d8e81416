import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/**
 * A balancer on loopback that passes connections on to the ports in turn, and to the next one if one does not accept.
 *
 * @param at its own port; 0: any.
 */
export async function startBalancer(
  ports: readonly number[],
  at = 0,
): Promise<{ readonly port: number; close(): void }> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer({ noDelay: true }, (client) => {
    sockets.add(client);
    client.on("error", () => undefined).on("close", () => sockets.delete(client));
    const attempt = ([port, ...others]: readonly number[]): void => {
      if (port === undefined) return void client.destroy();
      const gateway = connect({ port, host: "127.0.0.1", noDelay: true });
      const next = () => attempt(others);
      gateway.once("error", next).once("connect", () => {
        gateway.off("error", next);
        // A gateway that is killed resets its connections, and so does the balancer.
        gateway.on("error", () => client.resetAndDestroy());
        client.on("close", () => gateway.destroy());
        client.pipe(gateway).pipe(client);
      });
    };
    const first = turn++ % ports.length;
    attempt([...ports.slice(first), ...ports.slice(0, first)]);
  });
  server.listen(at, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
