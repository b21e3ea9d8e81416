import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

export interface Listening extends AsyncDisposable {
  readonly origin: string;
}

/** Lets a test's own server listen on any port of loopback. @param cut ends its connections before it closes. */
export async function listening(server: Server, cut: () => void, host = "127.0.0.1"): Promise<Listening> {
  server.listen(0, host);
  await once(server, "listening");
  return {
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
