// real-time: sends load, and judges how much of it was served in time
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { readOutput } from "../../src/engines/index.ts";
import { segmentsOf } from "../../src/engines/k6/segments.ts";
import type { JudgedRun } from "../../src/record/index.ts";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { K6, WITHOUT } from "./support/k6.ts";
import { loggedGateway } from "./support/log-of.ts";
import { makeNamespaces } from "./support/namespaces.ts";

const PORT = 6565;
const RATE_PER_S = 30;
const DURATION_S = 5;

/** Tells a paused k6 to begin, when everything in it is ready. */
async function begin(address: string): Promise<void> {
  const url = `http://${address}:${PORT}/v1/status`;
  for (let ready = false; !ready; await delay(50)) {
    const status = await fetch(url).then(
      (response) => response.text(),
      () => "",
    );
    ready = status.includes('"paused":true') && /"status":[3-9]/.test(status);
  }
  await fetch(url, {
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ data: { type: "status", id: "default", attributes: { paused: false } } }),
  });
}

test.skipIf(K6 === undefined)(
  `three instances in separate network namespaces offer the schedule of one${WITHOUT}`,
  { timeout: 120_000 },
  async ({ skip }) => {
    using network = makeNamespaces(3);
    if (network === undefined)
      return skip("network namespaces cannot be created here; another test uses three processes");
    using folder = temporaryFolder();
    await using gateway = await loggedGateway(["--host", network.host]);
    const target = join(folder.path, "gauntlet.yaml");
    writeFileSync(
      target,
      `name: namespaces\nbaseUrl: ${gateway.ready.baseUrl}\nkeys: { valid: env:BENCH_KEY }\nmodels: { chat: echo-fast }\nauthorized: true\n`,
    );
    const workload = join(folder.path, "bench.yaml");
    writeFileSync(
      workload,
      `name: bench\narrivals: { kind: constant, ratePerS: ${RATE_PER_S}, durationS: ${DURATION_S} }\nmix: [{ dialect: chat }, { dialect: messages }]\n`,
    );
    const key = { BENCH_KEY: gateway.ready.keys.valid };
    const out = join(folder.path, "out");
    const exported = await gauntlet(
      ["k6", "export", workload, "--target", target, "--out", out, "--instances", "3"],
      key,
    );
    expect(exported.code, exported.stderr).toBe(0);

    const running = segmentsOf(3).map(({ segment, sequence }, index) => {
      const { name, address } = network.inside[index] as { name: string; address: string };
      const share = ["--execution-segment", segment, "--execution-segment-sequence", sequence];
      const output = join(folder.path, `${index + 1}.json`);
      const more = ["--paused", "--quiet", "--address", `${address}:${PORT}`, "--out", `json=${output}`];
      const child = spawn("ip", ["netns", "exec", name, K6 as string, "run", ...more, ...share, "gauntlet.ts"], {
        cwd: out,
        stdio: ["ignore", "ignore", "inherit"],
        env: { ...process.env, K6_NO_USAGE_REPORT: "true", GAUNTLET_KEY: gateway.ready.keys.valid },
      });
      return { address, output, ended: once(child, "exit") };
    });
    await Promise.all(running.map(({ address }) => begin(address)));
    expect((await Promise.all(running.map(({ ended }) => ended))).map(([code]) => code)).toEqual([0, 0, 0]);

    // Every arrival of the common schedule was sent by exactly one of them, when it was due.
    const outputs = await Promise.all(running.map(({ output }) => readOutput(output)));
    const indices = outputs.flatMap(({ requests }) => requests.map(({ index }) => index)).sort((x, y) => x - y);
    expect(indices).toEqual(Array.from({ length: RATE_PER_S * DURATION_S }, (_, index) => index));
    const log = await gateway.log();
    expect([log.total, log.admitted]).toEqual([RATE_PER_S * DURATION_S, RATE_PER_S * DURATION_S]);
    const firstMs = Math.min(...log.arrivals.map(({ atMs }) => atMs));
    const perSecond = new Array<number>(DURATION_S + 1).fill(0);
    for (const { atMs } of log.arrivals) {
      const second = Math.floor((atMs - firstMs) / 1_000);
      perSecond[second] = (perSecond[second] ?? 0) + 1;
    }
    console.log(`three namespaces, ${RATE_PER_S} due per second; the gateway's log: ${perSecond.join(", ")}`);

    const record = join(folder.path, "run");
    const files = running.map(({ output }) => output);
    const plan = ["--plan", join(out, "plan.json")];
    const done = await gauntlet(["k6", "import", ...files, ...plan, "--target", target, "--out", record], key);
    const run: JudgedRun = JSON.parse(readFileSync(join(record, "run.json"), "utf8")).load.runs[0];
    expect([run.phases[0]?.sent, run.instances?.map(({ complete }) => complete)], done.stderr).toEqual([
      RATE_PER_S * DURATION_S,
      [true, true, true],
    ]);
  },
);
