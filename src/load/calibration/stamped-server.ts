import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort } from "node:worker_threads";

/** Timing of a calibration stream: it is known, so any deviation that the client sees comes from the client. */
export const STAMPED = { firstMs: 50, gapMs: 20, events: 25 } as const;

/**
 * The built-in reference: streams whose events carry the time of their sending on the clock that all threads share. Runs in a
 * separate thread to keep its work out of the client's event loop.
 */
if (parentPort !== null) {
  const port = parentPort;
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const startMs = performance.now();
      let sent = 0;
      const next = () => {
        const stamp = process.hrtime.bigint();
        response.write(`data: {"x_send_ns":"${stamp}","choices":[{"index":0,"delta":{"content":"t"}}]}\n\n`);
        sent++;
        if (sent === STAMPED.events) response.end("data: [DONE]\n\n");
        else setTimeout(next, Math.max(0, startMs + STAMPED.firstMs + sent * STAMPED.gapMs - performance.now()));
      };
      setTimeout(next, STAMPED.firstMs);
    });
  });
  server.listen(0, "127.0.0.1", () => port.postMessage((server.address() as AddressInfo).port));
}
