import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { selfSigned } from "../../support/certificate.ts";
import { gauntlet, type Running, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { httpServer } from "../../support/judge.ts";

let gateway: Running;
let ready: { readonly baseUrl: string; readonly keys: Readonly<Record<string, string>> };
beforeAll(async () => {
  gateway = startGauntlet(["gateway"]);
  ready = JSON.parse(await gateway.printed("\n"));
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** A short run against a target file, as a new user would start it. */
async function attempt(target: string, environment: Record<string, string> = {}) {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "gauntlet.yaml"), target);
  return await gauntlet(
    ["conform", "--only", "models.list", "--target", "gauntlet.yaml"],
    { K: ready.keys["valid"] ?? "", ...environment },
    folder.path,
  );
}

const file = (baseUrl: string, more = "") => `baseUrl: ${baseUrl}\nkeys: { valid: env:K }\n${more}`;
const origin = () => new URL(ready.baseUrl).origin;

describe("mistakes of new users are named, with the next step", () => {
  test.each<[what: string, target: () => string, says: RegExp]>([
    [
      "/v1 is missing",
      () => file(origin()),
      /There is no model list at \/models\. baseUrl should end with the version, such as http:\/\/[^ ]+\/v1\./,
    ],
    [
      "an endpoint in baseUrl",
      () => file(`${ready.baseUrl}/chat/completions`),
      /baseUrl ends in \/chat\/completions\. Omit the endpoint/,
    ],
    [
      "a wrong path",
      () => file(`${origin()}/api/v1`),
      /There is no model list at \/api\/v1\/models\. Correct the path in baseUrl: .* such as http/,
    ],
    [
      "a model that does not exist",
      () => file(ready.baseUrl, "models: { chat: echo-fats }\n"),
      /\(models\.chat\): the gateway neither lists nor serves "echo-fats" .* Did you mean "echo-fast"\?/,
    ],
  ])("%s: nothing is judged, and it says why", async (_what, target, says) => {
    const { stderr, code } = await attempt(target());
    expect(stderr).toMatch(says);
    expect(code).toBe(2);
  });

  test("a valid target file gets no notes", async () => {
    expect((await attempt(file(ready.baseUrl, "models: { chat: echo-fast }\n"))).stderr).not.toContain("note:");
  });

  test("a wrong key", async () => {
    const { stderr, code } = await attempt(file(ready.baseUrl), { K: "gk-never-issued-0123456789" });
    expect(stderr).toMatch(/the gateway rejects the key in keys\.valid \(401 invalid_api_key/);
    expect(code).toBe(2);
  });

  test.each([
    [
      "Bearer gk-canary-0123456789",
      /gauntlet\.yaml:2:\d+ \(keys\.valid\): has "Bearer" before the key\. Omit the scheme/,
    ],
    ["'gk-canary-0123456789'", /quotation marks around the key/],
    ["gk-canary\n0123456789", /characters that cannot be sent in a header/],
  ])("a key such as %j is refused before anything is sent, and not repeated", async (key, says) => {
    const { stderr, stdout, code } = await attempt(file(ready.baseUrl), { K: key });
    expect(stderr).toMatch(says);
    expect(stdout + stderr).not.toContain("canary");
    expect(code).toBe(2);
  });

  test.each<[what: string, target: () => string, says: RegExp]>([
    [
      "nothing listens",
      () => file("http://127.0.0.1:9/v1"),
      /connection refused, no server listens on this port[\s\S]*Start the gateway/,
    ],
    ["a host without a name", () => file("http://no-such-host.invalid/v1"), /the host name is unknown[\s\S]*spelling/],
    [
      "https for http",
      () => file(ready.baseUrl.replace("http:", "https:")),
      /the port speaks plain HTTP[\s\S]*Write http:\/\//,
    ],
  ])("%s: exit code 3", async (_what, target, says) => {
    const { stderr, code } = await attempt(target(), { HTTPS_PROXY: "" });
    expect(stderr).toMatch(says);
    expect(code).toBe(3);
  });

  test("a proxy in the environment is not used, and the message says so", async () => {
    const { stderr } = await attempt(file("http://127.0.0.1:9/v1"), { HTTPS_PROXY: "http://proxy.test:3128" });
    expect(stderr).toMatch(/HTTPS_PROXY is set: Gauntlet connects directly/);
  });

  test("something that takes connections and closes them", async () => {
    const server = createTcpServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { stderr, code } = await attempt(file(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`));
    server.close();
    expect(stderr).toMatch(/closed without an HTTP response[\s\S]*write https:\/\//);
    expect(code).toBe(3);
  });

  test.each<[what: string, status: number, headers: Record<string, string>, body: string, says: RegExp]>([
    [
      "a redirect",
      308,
      { location: "https://gw.example.test/v1/models" },
      "",
      /redirects to https:\/\/gw\.example\.test/,
    ],
    ["a login page", 200, { "content-type": "text/html" }, "<html></html>", /A web page instead of a model list/],
    ["asleep", 503, {}, "", /It may be asleep or starting \(503\)[\s\S]*start again/],
    ["asleep, in words", 503, {}, "no healthy\nupstream\u001b[31m", /\(503: "no healthy upstream \[31m"\)/],
    [
      "a required header",
      400,
      {},
      '{"status":"failure","message":"Either x-portkey-config or x-portkey-provider header is required"}',
      /refused \(400: "Either .* is required"\)\. The gateway requires an additional header\. Add it under extraHeaders.*all: \{ x-portkey-config: … \} \} # or x-portkey-provider/,
    ],
    ["a list that fails", 500, {}, '{"error":{"message":"boom"}}', /the model list is not served \(500: "boom"\)/],
    ["a proxy's login", 407, {}, "", /A proxy in between requires a login/],
    ["escape sequences in a redirect", 302, { location: "/a\u009b31m" }, "", /redirects to/],
  ])("%s", async (_what, status, headers, body, says) => {
    await using server = await httpServer((_request, _body, response) => response.writeHead(status, headers).end(body));
    const { stderr } = await attempt(file(server.baseUrl));
    expect(stderr).toMatch(says);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not come through
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  test("a certificate of an unknown authority, and the way to make it known", async () => {
    using folder = temporaryFolder();
    const { key, cert, certPath } = selfSigned(folder.path);
    const server = createTlsServer({ key, cert }, (_request, response) =>
      response.end('{"object":"list","data":[{"id":"m","object":"model"}]}'),
    ).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const refused = await attempt(file(`https://127.0.0.1:${port}/v1`));
    expect(refused.stderr).toMatch(/authority that is not known here[\s\S]*NODE_EXTRA_CA_CERTS/);
    expect(refused.code).toBe(3);
    const trusted = await attempt(file(`https://127.0.0.1:${port}/v1`), {
      NODE_EXTRA_CA_CERTS: certPath,
    });
    expect(trusted.stdout).toContain("PASS");
    server.closeAllConnections();
    server.close();
  });
});
