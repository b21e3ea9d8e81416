import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { httpServer, type TestServer } from "../support/judge.ts";

/** Control characters that a terminal interprets although JSON does not escape them, a bidirectional mark, and a line end. */
const HOSTILE = "\u007f\u0085\u009b31m\u009c\u202e\u2028";
const UNPLAIN = /[^\n\t\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/u;

let server: TestServer;
const folder = temporaryFolder();
beforeAll(async () => {
  server = await httpServer((request, _body, response) => {
    response.setHeader("X-Service-Error-Code", "odd\u009b31m");
    response.setHeader("Content-Type", "application/json");
    if (request.method === "GET") return response.end(JSON.stringify({ data: [{ id: "m" }, { id: `m${HOSTILE}` }] }));
    response.statusCode = 418;
    return response.end(JSON.stringify({ error: { message: HOSTILE, type: HOSTILE, code: HOSTILE } }));
  });
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${server.baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: m }\ndialects: [chat]\nlimits: { rpm: 6000, inFlight: 64 }\n`,
  );
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const inFolder = (args: readonly string[]) => gauntlet(args, { K: "ck-controls-0123456789" }, folder.path);

test("what a gateway sends reaches neither a terminal nor a JSON document as control characters", async () => {
  const conform = ["conform", "models", "chat", "--target", "t.yaml"];
  const commands = [
    [...conform, "--out", "run"],
    [...conform, "--json", "--out", "other"],
    ["rejudge", "run"],
    ["rejudge", "run", "--json"],
    ["doctor", "--target", "t.yaml"],
    ["doctor", "--target", "t.yaml", "--json"],
    ...["json", "terminal", "events", "markdown"].map((format) => ["report", "run", "--print", format]),
  ];
  for (const args of commands) {
    const { stdout, stderr } = await inFolder(args);
    expect(
      `${args.join(" ")}: ${UNPLAIN.exec(stdout + stderr)?.[0]
        .codePointAt(0)
        ?.toString(16)}`,
    ).toBe(`${args.join(" ")}: undefined`);
  }
});

test("the value in a JSON document stays what the gateway sent", async () => {
  const { stdout } = await inFolder(["conform", "models", "chat", "--target", "t.yaml", "--json", "--out", "values"]);
  expect(stdout).toContain("\\u009b31m");
  expect(JSON.parse(stdout).reasons[0].text).toContain("\u009b31m");
});
