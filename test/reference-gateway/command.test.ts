// real-time: ends processes at a moment of their work
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ReadyLine } from "../../src/reference-gateway/index.ts";
import { upstreamOf } from "../upstream/support.ts";
import { sendTo } from "./support/client.ts";
import { CHAT } from "./support/gateway-fixture.ts";

/** The built command, as `npm test` leaves it. */
const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));

interface Command extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Everything on stdout and stderr until the process exits. */
  readonly ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
  line(): Promise<string>;
}

function run(...args: readonly string[]): Command {
  const child = spawn(process.execPath, [MAIN, "gateway", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (bytes) => {
    stdout += bytes;
  });
  child.stderr.on("data", (bytes) => {
    stderr += bytes;
  });
  const ended = once(child, "close").then(() => ({ code: child.exitCode, stdout, stderr }));
  return {
    child,
    ended,
    line: async () => String((await once(createInterface({ input: child.stdout }), "line"))[0]),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) child.kill("SIGKILL");
      await ended;
    },
  };
}

test("one line of JSON says that the gateway is ready", async () => {
  await using command = run("--tier", "growth", "--slow", "100");
  const ready = JSON.parse(await command.line()) as ReadyLine;
  expect(ready).toMatchObject({ event: "ready", pid: command.child.pid, limits: { rpm: 1_000, inFlight: 200 } });
  const requested = { path: "/chat/completions", key: ready.keys.valid, body: CHAT };
  expect((await sendTo(ready.baseUrl, requested)).status).toBe(200);
  command.child.kill("SIGTERM");
  const { code, stdout, stderr } = await command.ended;
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout.trim().split("\n").length).toBe(1);
});

test("--upstream, given twice: the second provider serves what the first one cannot", async () => {
  const failing = { one: { models: { m: { error: { status: 503 } } } }, two: {} };
  await using upstream = await upstreamOf({ providers: failing });
  const { one = "", two = "" } = upstream.providers;
  process.env["GAUNTLET_TEST_PROVIDER_KEY"] = "sk-of-a-provider";
  await using command = run("--upstream", one, "--upstream", two, "--upstream-key", "env:GAUNTLET_TEST_PROVIDER_KEY");
  const ready = JSON.parse(await command.line()) as ReadyLine;
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hello" }] });
  const { status } = await sendTo(ready.baseUrl, { path: "/chat/completions", key: ready.keys.valid, body });
  const posts = (await upstream.requests()).filter(({ method }) => method === "POST");
  expect([status, ...posts.map(({ provider }) => provider)]).toEqual([200, "one", "two"]);
});

test("--with-upstream: two providers in the same process, and a model that they serve", async () => {
  await using command = run("--with-upstream");
  const ready = JSON.parse(await command.line()) as ReadyLine;
  expect(ready.upstream).toMatchObject({ model: "upstream-model", failover: ["primary", "secondary"] });
  const body = JSON.stringify({ model: "upstream-model", messages: [{ role: "user", content: "hello" }] });
  expect((await sendTo(ready.baseUrl, { path: "/chat/completions", key: ready.keys.valid, body })).status).toBe(200);
  const own = { path: "/chat/completions", key: ready.keys.valid, body: CHAT };
  expect((await sendTo(ready.baseUrl, own)).status).toBe(200);
  command.child.kill("SIGTERM");
  expect((await command.ended).code).toBe(0);
});

test("--tokens-per-minute: an account with that limit, as the printed line says", async () => {
  await using command = run("--tokens-per-minute", "500", "--token-counts", "reserved");
  const { baseUrl, tokenLimits } = JSON.parse(await command.line()) as ReadyLine;
  expect(tokenLimits).toMatchObject({ tokensPerMinute: 500, counts: "reserved", inFlightTokens: 0 });
  const request = { path: "/chat/completions", key: tokenLimits?.key, body: { ...CHAT, max_tokens: 400 } };
  const statuses = [await sendTo(baseUrl, request), await sendTo(baseUrl, request)].map(({ status }) => status);
  expect(statuses).toEqual([200, 429]);
});

test.each([
  [["--with-upstream", "--upstream", "http://127.0.0.1:1/v1"], /with-upstream/],
  [["--upstream", "http://127.0.0.1:1/v1", "--upstream-key", "sk-a-key-itself"], /a reference is expected, not a key/],
  [["--upstream", "nowhere"], /--upstream must be an http/],
  [["--token-counts", "prompt"], /Add --tokens-per-minute N/],
])("%s is refused", async (args, says) => {
  await using command = run(...args);
  const { code, stderr } = await command.ended;
  expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
});

test.each(["SIGTERM", "SIGINT"] as const)("after %s a running stream still completes", async (signal) => {
  await using command = run("--slow", "900");
  const ready = JSON.parse(await command.line()) as ReadyLine;
  let begun = () => {};
  const first = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const body = { ...CHAT, model: "slow", stream: true };
  const stream = sendTo(ready.baseUrl, {
    path: "/chat/completions",
    key: ready.keys.valid,
    body,
    onPiece: () => begun(),
  });
  await first;
  command.child.kill(signal);
  const reply = await stream;
  expect(reply).toMatchObject({ status: 200, end: "complete" });
  expect(reply.bytes.toString()).toMatch(/\[DONE\]\n\n$/);
  expect((await command.ended).code).toBe(0);
});

test("a drain is bounded", async () => {
  await using command = run("--slow", "60000", "--drain", "200");
  const ready = JSON.parse(await command.line()) as ReadyLine;
  const body = { ...CHAT, model: "slow", stream: true };
  const stream = sendTo(ready.baseUrl, {
    path: "/chat/completions",
    key: ready.keys.valid,
    body,
    onPiece: () => command.child.kill("SIGTERM"),
  });
  expect((await stream).end).toBe("aborted");
  expect((await command.ended).code).toBe(0);
});

test.each([
  [["--port", "abc"], /--port takes a number, not "abc"/],
  [["--limits", "300"], /limits: "300" is not two whole numbers/],
  [["--tier", "huge"], /tier: "huge" is not one of/],
  [["--limiter", "leaky"], /limiter: "leaky" is not one of/],
  [["--mutation", "auth.nothing"], /no mutation "auth.nothing"/],
  [["--variant", "json.nothing"], /no variant "json.nothing"/],
  [["--keys", "/does/not/exist.json"], /keys: \/does\/not\/exist\.json cannot be read/],
])("%j ends with 2 and says why", async (args, message) => {
  await using command = run(...args);
  const { code, stdout, stderr } = await command.ended;
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(message);
});

test("keys are taken from a file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-keys-"));
  const file = join(folder, "keys.json");
  await writeFile(file, JSON.stringify({ valid: "gk-from-a-file-1" }));
  await using command = run("--keys", file);
  expect(JSON.parse(await command.line()).keys.valid).toBe("gk-from-a-file-1");
  await rm(folder, { recursive: true });
});

test.each([
  ["--list-mutations", "chat.usage-missing", "breaks"],
  ["--list-variants", "json.pretty", "summary"],
])("%s lists, as text and as JSON", async (flag, name, field) => {
  await using text = run(flag);
  expect((await text.ended).stdout).toContain(`\n${name} `);
  await using json = run(flag, "--json");
  const entries = JSON.parse((await json.ended).stdout);
  expect(entries.find((entry: { name: string }) => entry.name === name)).toHaveProperty(field);
});
