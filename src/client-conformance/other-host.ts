import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ForeignRequest } from "./observation.ts";

export interface OtherHost extends AsyncDisposable {
  /** Scheme, host and port: both host name and port differ from the gateway's. */
  readonly origin: string;
  readonly received: readonly ForeignRequest[];
}

/** How much of a body is searched for the key, characters. */
const MAX_BODY_BYTES = 1 << 20;

/** A host for which the client has no key. It records every request and responds with 404. */
export async function startOtherHost(key: string): Promise<OtherHost> {
  const received: ForeignRequest[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("latin1").on("data", (text: string) => {
      if (body.length < MAX_BODY_BYTES) body += text;
    });
    request.on("end", () => {
      const header = Object.entries(request.headers).find(([, value]) => String(value).includes(key))?.[0];
      const url = request.url ?? "";
      const keyIn =
        header !== undefined
          ? `header ${header}`
          : url.includes(key)
            ? "the address"
            : body.includes(key)
              ? "the body"
              : undefined;
      received.push({ method: request.method ?? "", url: url.replaceAll(key, "…"), keyIn, bodyBytes: body.length });
      response.writeHead(404, { "Content-Type": "application/json" });
      response.end('{"error":{"message":"This host is another one.","type":"invalid_request_error","code":404}}');
    });
  });
  server.listen(0, "localhost");
  await once(server, "listening");
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
