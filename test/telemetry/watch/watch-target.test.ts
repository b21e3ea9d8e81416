// real-time: sends load, and judges how much of it was served in time
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

/** A gateway that never closes the file it opens for each request. */
const LEAKING = `
  const reply = { id: "c", object: "chat.completion", created: 1, model: "m", usage: { completion_tokens: 1 } };
  const choices = [{ index: 0, message: { role: "assistant", content: "a" }, finish_reason: "stop" }];
  const server = require("node:http").createServer((request, response) => {
    request.resume();
    require("node:fs").openSync("/dev/null");
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...reply, choices }));
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

async function leakingGateway() {
  const child = spawn(process.execPath, ["-e", LEAKING], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = await once(child.stdout, "data");
  return {
    baseUrl: `http://127.0.0.1:${String(port).trim()}/v1`,
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      const closed = once(child, "close");
      child.kill();
      await closed;
    },
  };
}

test.skipIf(process.platform !== "linux")(
  "a gateway that leaks files shows growth of files, and of nothing else",
  async () => {
    await using gateway = await leakingGateway();
    using folder = temporaryFolder();
    writeFileSync(
      join(folder.path, "target.yaml"),
      `name: leaking\nbaseUrl: ${gateway.baseUrl}\nkeys: { valid: "env:KEY" }\nmodels: { chat: m }\n`,
    );
    writeFileSync(
      join(folder.path, "even.yaml"),
      "name: even\narrivals: { kind: constant, ratePerS: 20, durationS: 24 }\nmix: [{ dialect: chat }]\n",
    );
    const load = ["load", "even.yaml", "--target", "target.yaml", "--out", "run", "--watch-pid", String(gateway.pid)];
    const { stdout, stderr } = await gauntlet([...load, "--json"], { KEY: "sk-a-key-that-is-not-real" }, folder.path);
    const { watched: target } = JSON.parse(stdout);
    expect(target?.processes?.pid, stderr).toBe(gateway.pid);
    const watched = target.processes;
    expect(watched.samples.length).toBeGreaterThanOrEqual(20);
    for (const { atS, memoryBytes, openFiles, threads } of watched.samples) {
      expect(atS).toBeGreaterThanOrEqual(0);
      expect(memoryBytes).toBeGreaterThan(10 * 2 ** 20);
      expect(openFiles).toBeGreaterThan(5);
      expect(threads).toBeGreaterThan(1);
    }
    expect(watched.samples.some(({ cpuShare }: { cpuShare: number | null }) => (cpuShare ?? 0) > 0)).toBe(true);
    const leaks = new Map(watched.leaks.map((leak: { resource: string }) => [leak.resource, leak]));
    expect(leaks.get("open files")).toMatchObject({ verdict: "growth" });
    expect(leaks.get("threads")).toMatchObject({ verdict: "idle" });
    // A request opens one file, 20 a second are 1,200 a minute.
    const { low, high } = (leaks.get("open files") as { perMinute: { low: number; high: number } }).perMinute;
    expect(low).toBeGreaterThan(600);
    expect(high).toBeLessThan(2_400);
    const record = JSON.parse(readFileSync(join(folder.path, "run", "run.json"), "utf8"));
    expect(record.load.runs[0].watched).toEqual(target);
    expect(readFileSync(join(folder.path, "run", "report.html"), "utf8")).toContain("processes over time");
  },
);

test("a process that cannot be read is refused before anything is sent", async () => {
  const { code, stderr } = await gauntlet(["load", "peak", "--target", "embedded", "--watch-pid", "2147483647"]);
  expect(stderr).toContain("--watch-pid: no process 2147483647 can be read here");
  expect(code).toBe(2);
});
