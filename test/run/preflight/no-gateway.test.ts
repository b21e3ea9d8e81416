import { writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";

async function against(baseUrl: string, command: readonly string[], key = "sk-12345678") {
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${baseUrl}\nkeys: { valid: env:GW_KEY }\nmodels: { chat: plain }\n`,
  );
  return await gauntlet([...command, "--target", "t.yaml"], { GW_KEY: key }, folder.path);
}

async function withServer<T>(respond: RequestListener, use: (origin: string) => Promise<T>): Promise<T> {
  const server = createServer(respond).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const page =
  (status: number, text: string): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": "text/html" }).end(`<html><body><h1>${text}</h1></body></html>`);
const json =
  (status: number, body: object): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

const CASES: readonly (readonly [what: string, respond: RequestListener, code: number, says: RegExp])[] = [
  [
    "the page of a web server",
    page(200, "Welcome to nginx!"),
    2,
    /\/models, \/chat\/completions and \/messages respond with 200, text\/html\. A web page instead/,
  ],
  ["a web server without these paths", page(404, "404 Not Found"), 2, /\/messages respond with 404/],
  ["a web server that takes no POST", page(405, "405 Not Allowed"), 2, /does not look like a model gateway/],
  ["a framework that knows no such path", json(404, { detail: "Not Found" }), 2, /404: "Not Found"/],
  ["another service", json(200, { status: "ok" }), 2, /does not look like a model gateway/],
  ["a proxy without an upstream", page(502, "502 Bad Gateway"), 3, /is not up: \/models[^:]* respond with 502/],
];

test.each(CASES)("%s is not judged as a gateway", async (_what, respond, code, says) => {
  await withServer(respond, async (origin) => {
    const done = await against(`${origin}/v1`, ["conform", "models"]);
    expect(done.stdout).not.toContain("FAIL");
    expect(done.stderr).toMatch(says);
    expect(done.code).toBe(code);
  });
});

test("a wrong path of a real gateway", async () => {
  await using gateway = startGauntlet(["gateway"]);
  const ready = JSON.parse(await gateway.printed("\n"));
  const done = await against(`${ready.baseUrl}/v2`, ["conform", "models"], ready.keys.valid);
  expect(done.stderr).toMatch(
    /\/v2 does not look like a model gateway\. Expected a model list, a reply, or an error about the model\. Instead, \/models, \/chat\/completions and \/messages respond with 404 [^\n]* There is no model list at \/v1\/v2\/models\. Correct the path in baseUrl: it must end with the version that the gateway serves, such as http:\/\/[^ ]+\/v1\.\n/,
  );
  expect(done.code).toBe(2);
  const doctor = await against(`${ready.baseUrl}/v2`, ["doctor"], ready.keys.valid);
  expect(doctor.stdout).not.toMatch(/can run|cannot run/);
  expect(doctor.stdout).toMatch(/▲ messages dialect: 404/);
  expect(doctor.stdout).toMatch(/\n1 problem to fix before running: /);
  expect(doctor.code).toBe(2);
});

test("doctor does not claim that a web page serves a dialect", async () => {
  await withServer(page(200, "Welcome to nginx!"), async (origin) => {
    const { stdout, code } = await against(`${origin}/v1`, ["doctor"]);
    expect(stdout).toMatch(/messages dialect: responded with 200 and a body that is not a reply/);
    expect(stdout).not.toMatch(/: served|can run|cannot run/);
    expect(code).toBe(2);
  });
});
