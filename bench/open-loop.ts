/**
 * Compares load generators at a fixed rate, against a server that records when requests really arrived. The tools take turns.
 *
 *     npm run build && npm run bench                    Gauntlet and autocannon, 4,000 requests/s for 30 s, three runs each
 *     npm run bench -- --k6 --oha                       also k6 (from PATH) and oha (from PATH, or built by cargo)
 *     npm run bench -- --rate 50 --seconds 5 --runs 5   the fixed cost of a short load
 *     npm run bench -- --build ../before --reply-bytes 1000   also measures another build of Gauntlet
 *
 * CPU is that of the whole process from start to exit, as the kernel counts it.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import { median } from "../src/core/index.ts";
import { findK6 } from "../src/engines/index.ts";
import { AUTOCANNON, findOha, gauntletLoad, medianRow, run, startPacedServer } from "./support/bench-tools.ts";
import { percentilesOf } from "./support/percentiles.ts";

const options = await yargs(process.argv.slice(2))
  .option("rate", { type: "number", default: 4_000, describe: "requests per second" })
  .option("seconds", { type: "number", default: 30 })
  .option("runs", { type: "number", default: 3 })
  .option("k6", { type: "boolean", default: false })
  .option("oha", { type: "boolean", default: false })
  .option("build", { type: "string", describe: "checkout of another, built version of Gauntlet" })
  .option("reply-bytes", { type: "number", default: 0, describe: "size of each reply in bytes; default: 93" })
  .strict()
  .parseAsync();
const { rate, seconds } = options;
/** Enough for a latency of 100 ms, times three. */
const connections = String(Math.ceil(rate * 0.3));
const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Say hello to the bench." }] });

const folder = mkdtempSync(join(tmpdir(), "gauntlet-bench-"));
const workload = {
  arrivals: { kind: "constant", ratePerS: rate, durationS: seconds },
  mix: [{ dialect: "chat", promptTokens: 8, maxTokens: 16 }],
};
const tools: Record<string, (url: string) => readonly string[]> = {
  gauntlet: (url) => gauntletLoad(folder, url, workload),
  autocannon: (url) => [
    ...[process.execPath, AUTOCANNON, "-c", connections, "-R", String(rate), "-d", String(seconds)],
    ...["-m", "POST", "-H", "content-type=application/json", "-b", body, "--json", `${url}/chat/completions`],
  ],
};
const { build } = options;
if (build !== undefined)
  tools["other build"] = (url) =>
    gauntletLoad(folder, url, workload, { name: "other", main: join(build, "dist/src/main.js") });
if (options.k6) {
  const k6 = findK6(undefined, process.env);
  tools["k6"] = (url) => [k6, "run", "-q", "--no-usage-report", k6Script(url)];
}
if (options.oha) {
  const oha = findOha();
  tools["oha"] = (url) => [
    ...[oha, "--no-tui", "-c", connections, "-q", String(rate), "-z", `${seconds}s`, "--latency-correction"],
    ...["-m", "POST", "-T", "application/json", "-d", body, `${url}/chat/completions`],
  ];
}

const runs = new Map<string, Record<string, number | undefined>[]>();
for (let round = 0; round < options.runs; round++) {
  for (const [tool, command] of Object.entries(tools)) {
    await using server = await startPacedServer({ latencyMs: 100, replyBytes: options.replyBytes });
    const { cpuS, wallS, peakRssMb } = await run(command(server.url));
    const truth = await server.truth();
    const error = scheduleErrorMs(truth.arrivalsMs);
    const row = {
      requests: truth.requests,
      "schedule error p50 ms": error.p50,
      "schedule error p99 ms": error.p99,
      "CPU s": cpuS,
      "CPU µs per request": (cpuS * 1e6) / Math.max(1, truth.requests),
      "s beyond the schedule": wallS - seconds,
      "peak MB": peakRssMb,
    };
    runs.set(tool, [...(runs.get(tool) ?? []), row]);
  }
}
rmSync(folder, { recursive: true, force: true });

console.log(`${rate} requests/s for ${seconds} s, ${options.runs} runs each: median (lowest … highest)`);
console.table(Object.fromEntries([...runs].map(([tool, rows]) => [tool, medianRow(rows)])));
const cpuOf = (tool: string) => median((runs.get(tool) ?? []).map((row) => row["CPU µs per request"] ?? 0));
for (const tool of Object.keys(tools).slice(1))
  console.log(`CPU per request, gauntlet to ${tool}: ${(cpuOf("gauntlet") / cpuOf(tool)).toFixed(2)}`);
if (options.k6) await import("./k6-and-native.ts");

/** How far arrivals were from an even schedule, whatever its start. */
function scheduleErrorMs(arrivalsMs: readonly number[]) {
  const first = arrivalsMs[0] ?? 0;
  const offsets = arrivalsMs.map((at, index) => at - first - (index * 1_000) / rate);
  const middle = median(offsets);
  return percentilesOf(offsets.map((offset) => Math.abs(offset - middle)));
}

function k6Script(url: string): string {
  const path = join(folder, "k6.js");
  const scenario = {
    ...{ executor: "constant-arrival-rate", rate, timeUnit: "1s", duration: `${seconds}s` },
    ...{ preAllocatedVUs: Number(connections), maxVUs: 4 * Number(connections) },
  };
  const k6Options = { discardResponseBodies: true, scenarios: { a: scenario } };
  const params = { headers: { "Content-Type": "application/json" } };
  const lines = [
    'import http from "k6/http";',
    `export const options = ${JSON.stringify(k6Options)};`,
    `const [url, body, params] = ${JSON.stringify([`${url}/chat/completions`, body, params])};`,
    "export default function () { http.post(url, body, params); }",
  ];
  writeFileSync(path, lines.join("\n"));
  return path;
}
