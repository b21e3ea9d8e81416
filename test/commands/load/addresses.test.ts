// real-time: loads are judged by their timing, too
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { httpServer } from "../../support/judge.ts";
import { searchable } from "../../support/run-files.ts";
import { wasLate } from "../../support/valid-generator.ts";

const REPLY = JSON.stringify({
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "plain",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const LIST = JSON.stringify({ object: "list", data: [{ id: "plain", object: "model" }] });
const ENVIRONMENT = { K: "ck-addresses-0123456789abcdef" };

/** A replica that counts the `Host` of each inference request. */
async function replica() {
  const hosts: string[] = [];
  const server = await httpServer((request, _body, response) => {
    if (request.method === "POST") hosts.push(request.headers.host ?? "");
    response.writeHead(200, { "content-type": "application/json" }).end(request.method === "POST" ? REPLY : LIST);
  });
  return { ...server, hosts, host: new URL(server.baseUrl).host };
}

interface Run {
  /** The rest of the target file. */
  readonly more?: string;
  readonly workload?: string;
  readonly args?: readonly string[];
  /** Instead of the second replica's address. */
  readonly second?: string;
}

const CONSTANT = "arrivals: { kind: constant, ratePerS: 100, durationS: 1 }";

/** Sends load to two replicas. */
async function loaded({ more = "", workload = CONSTANT, args = [], second }: Run = {}) {
  await using one = await replica();
  await using other = await replica();
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "w.yaml"), `name: w\n${workload}\n`);
  writeFileSync(
    join(folder.path, "t.yaml"),
    `addresses: [${one.baseUrl}, ${second ?? other.baseUrl}]\nkeys: { valid: env:K }\nmodels: { chat: plain }\n${more}`,
  );
  const ran = await gauntlet(
    ["load", "w.yaml", "--target", "t.yaml", "--out", "run", ...args],
    ENVIRONMENT,
    folder.path,
  );
  const out = join(folder.path, "run");
  const files = existsSync(out) ? readdirSync(out, { recursive: true, encoding: "utf8" }) : [];
  const evidence = files
    .filter((name) => name.endsWith(".gz"))
    .map((name) => searchable(join(out, name)).toString("utf8"))
    .join("");
  return { ...ran, one, other, evidence };
}

describe("load on several addresses", () => {
  test.each<[how: string, args: readonly string[]]>([
    ["from one thread", []],
    ["from two threads", ["--workers", "2"]],
  ])("goes to each in turn, %s, and each request has the host of its connection", async (_how, args) => {
    const ran = await loaded({ args });
    const { one, other, evidence } = ran;
    if (!wasLate(ran)) expect(ran.code).toBe(0);
    expect([one.hosts, other.hosts]).toEqual([Array(50).fill(one.host), Array(50).fill(other.host)]);
    for (const { baseUrl } of [one, other]) expect(evidence).toContain(`"url":"${baseUrl}/chat/completions"`);
  });

  test("goes to a random one each time, if the target says so", async () => {
    const { one, other } = await loaded({ more: "addressChoice: random\n" });
    expect(one.hosts.length + other.hosts.length).toBe(100);
    expect(one.hosts.length).toBeGreaterThan(20);
    expect(other.hosts.length).toBeGreaterThan(20);
    expect(one.hosts.length).not.toBe(50);
  });

  test("is not sent when one of them does not respond, and names it", async () => {
    await using gone = await replica();
    await gone[Symbol.asyncDispose]();
    const { code, stderr, one } = await loaded({ second: gone.baseUrl });
    expect(code).toBe(3);
    expect(stderr).toContain(`no response from ${gone.baseUrl}`);
    expect(one.hosts).toEqual([]);
  });

  test("needs authorization for each host", async () => {
    const { code, stderr, one } = await loaded({ second: "http://gw.example.test/v1" });
    expect(code).toBe(2);
    expect(stderr).toContain("load would go to gw.example.test, which is not this machine");
    expect(one.hosts).toEqual([]);
  });

  test.each<[who: string, command: readonly string[]]>([
    ["autocannon", ["load", "peak.yaml"]],
    ["k6", ["k6", "export", "w.yaml", "--out", "k6"]],
    ["gauntlet limits", ["limits"]],
  ])("is rejected for %s", async (who, command) => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "w.yaml"), `name: w\n${CONSTANT}\n`);
    writeFileSync(
      join(folder.path, "peak.yaml"),
      "name: peak\nengine: autocannon\narrivals: { kind: closed, inFlight: 4, durationS: 1 }\n",
    );
    await using one = await replica();
    await using other = await replica();
    const target = `addresses: [${one.baseUrl}, ${other.baseUrl}]\nkeys: { valid: env:K }\nmodels: { chat: plain }\n`;
    writeFileSync(join(folder.path, "t.yaml"), target);
    const { code, stderr } = await gauntlet([...command, "--target", "t.yaml"], ENVIRONMENT, folder.path);
    expect(stderr).toContain(`${who} supports only one address, but the target has 2.`);
    expect(code).toBe(2);
    expect([one.hosts, other.hosts]).toEqual([[], []]);
  });
});
