import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Responds to every chat request after a delay. @param latencyMs of a request that arrived this many seconds after the first. */
export async function timedGateway(latencyMs: (atS: number) => number) {
  let firstMs: number | undefined;
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const choices = [{ index: 0, message: { role: "assistant", content: "a" }, finish_reason: "stop" }];
  const body = JSON.stringify({ id: "c", object: "chat.completion", created: 1, model: "m", choices, usage });
  const server = createServer((request, response) => {
    request.resume();
    firstMs ??= performance.now();
    setTimeout(
      () => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(body);
      },
      latencyMs((performance.now() - firstMs) / 1_000),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
