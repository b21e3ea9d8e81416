// real-time: sends load, and judges how much of it was served in time
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunRecord } from "../../../src/record/index.ts";
import { selfSigned } from "../../support/certificate.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

const REPLY = '{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}';

/** What the server supports, what the target file says, and the expected result. */
const REQUIREMENTS_OF = [
  { offers: "both", http: undefined, spoken: "2.0", protocol: "HTTP/2" },
  { offers: "both", http: 1, spoken: "1.1", protocol: "HTTP/1.1" },
  { offers: "http/1.1", http: undefined, spoken: "1.1", protocol: "HTTP/1.1" },
] as const;

test.each(REQUIREMENTS_OF)(
  "TLS: offered $offers, http: $http, spoken $spoken",
  async ({ offers, http, spoken, protocol }) => {
    using folder = temporaryFolder();
    const { key, cert, certPath } = selfSigned(folder.path);
    const versions = new Set<string>();
    let requests = 0;
    const respond = (request: Pick<Http2ServerRequest, "httpVersion" | "resume">, response: Http2ServerResponse) => {
      requests++;
      versions.add(request.httpVersion);
      request.resume();
      response.setHeader("content-type", "application/json");
      response.end(REPLY);
    };
    const server =
      offers === "both"
        ? createSecureServer({ key, cert, allowHTTP1: true }, respond)
        : createTlsServer({ key, cert }, respond as never);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const file = (name: string, value: object) => {
      writeFileSync(join(folder.path, name), JSON.stringify(value));
      return join(folder.path, name);
    };
    const { port } = server.address() as AddressInfo;
    const target = file("t.yaml", {
      baseUrl: `https://127.0.0.1:${port}/v1`,
      keys: { valid: "env:TLS_KEY" },
      models: { chat: "m" },
      ...(http === undefined ? {} : { http }),
    });
    const workload = file("w.yaml", { name: "w", arrivals: { kind: "constant", ratePerS: 20, durationS: 1 } });
    const out = join(folder.path, "run");
    const { stderr } = await gauntlet(["load", workload, "--target", target, "--out", out, "--json"], {
      TLS_KEY: "sk-tls-0123456789abcdef",
      NODE_EXTRA_CA_CERTS: certPath,
    });
    server.close();
    const record = JSON.parse(readFileSync(join(out, "run.json"), "utf8")) as RunRecord;
    const [run] = record.load?.runs ?? [];
    expect([...versions], stderr).toEqual([spoken]);
    expect(run?.protocol).toBe(protocol);
    expect(requests).toBe(20);
    expect(run?.phases[0]).toMatchObject({ sent: 20, admitted: 20, failed: 0 });
  },
);
