// The same workloads with the native engine and with k6 on one gateway: CPU per request, schedule error, memory per held stream.
// Part of `npm run bench -- --k6`; alone: npm run build && node_modules/.bin/tsx bench/k6-and-native.ts
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoadRun } from "../src/record/index.ts";
import { gauntlet, startGauntlet } from "../test/support/gauntlet.ts";

const RATE_PER_S = 200;
const SECONDS = 10;
const HELD = 400;

const WORKLOADS = {
  rest: { arrivals: { kind: "constant", ratePerS: 1, durationS: 2 }, stream: false },
  rate: { arrivals: { kind: "constant", ratePerS: RATE_PER_S, durationS: SECONDS }, stream: false },
  held: { arrivals: { kind: "burst", size: HELD, everyS: 8, durationS: 8 }, stream: true },
};

const folder = mkdtempSync(join(tmpdir(), "gauntlet-bench-"));
try {
  await using running = startGauntlet(["gateway", "--limits", "10000000:100000", "--pace", "150"]);
  const text = await running.printed(/\{"event":"ready".*\}\n/s);
  const { baseUrl, keys } = JSON.parse(text.slice(text.indexOf("{"), text.indexOf("\n", text.indexOf("{"))));
  const target = join(folder, "gauntlet.yaml");
  writeFileSync(
    target,
    `name: bench\nbaseUrl: ${baseUrl}\nkeys: { valid: env:BENCH_KEY }\nmodels: { chat: echo-fast, stream: echo-stream }\n`,
  );
  const measure = async (engine: string, name: keyof typeof WORKLOADS): Promise<LoadRun> => {
    const { arrivals, stream } = WORKLOADS[name];
    const file = join(folder, `${name}.json`);
    // As many clients as are needed: k6 creates each before the start, used or not.
    const bound = name === "held" ? HELD : 32;
    writeFileSync(file, JSON.stringify({ name, arrivals, mix: [{ dialect: "chat", stream }], maxInFlight: bound }));
    const out = join(folder, `${engine}-${name}`);
    await gauntlet(["load", file, "--engine", engine, "--target", target, "--out", out], { BENCH_KEY: keys.valid });
    return JSON.parse(readFileSync(join(out, "run.json"), "utf8")).load.runs[0] as LoadRun;
  };
  const rows = [];
  for (const engine of ["native", "k6"]) {
    const rest = await measure(engine, "rest");
    const rate = await measure(engine, "rate");
    const held = await measure(engine, "held");
    const sent = rate.phases.reduce((sum, phase) => sum + phase.sent, 0);
    const streams = held.phases.reduce((sum, phase) => sum + phase.admitted, 0);
    rows.push({
      engine,
      requests: sent,
      "CPU µs per request": Math.round(((rate.generator.cpuS - rest.generator.cpuS) / sent) * 1e6),
      "schedule error p50 ms": Number(rate.generator.scheduleLagMs.p50.toFixed(2)),
      "schedule error p99 ms": Number(rate.generator.scheduleLagMs.p99.toFixed(2)),
      streams,
      "kB per held stream": Math.round((held.generator.peakRssBytes - rest.generator.peakRssBytes) / streams / 1_000),
      "MB at rest": Math.round(rest.generator.peakRssBytes / 1e6),
    });
  }
  console.table(rows);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
