// Load generators side by side, against a server that notes when requests really arrived.
//
//   npm run build && npm run bench [-- --k6] [-- --rate 4000] [-- --seconds 8]
//
// k6 is taken from PATH and only when asked for. CPU is that of the whole child process, as the system counts it.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../dist/src/main.js", import.meta.url));
const AUTOCANNON = fileURLToPath(new URL("../node_modules/autocannon/autocannon.js", import.meta.url));
const LATENCY_MS = 100;
const REPLY = '{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}';

interface Truth {
  readonly count: number;
  readonly errorP50Ms: number;
  readonly errorP99Ms: number;
}

if (process.argv[2] === "--serve") serve(Number(process.argv[3]));
else {
  await compare();
  if (process.argv.includes("--k6")) await import("./k6-beside-native.ts");
}

/** Answers after a fixed time, and tells at the end how far arrivals were from an even schedule. */
function serve(ratePerS: number): void {
  const arrivals: number[] = [];
  const server = createServer((request, response) => {
    arrivals.push(performance.now());
    request.resume();
    setTimeout(() => {
      response.writeHead(200, { "content-type": "application/json", "content-length": REPLY.length });
      response.end(REPLY);
    }, LATENCY_MS);
  });
  server.keepAliveTimeout = 60_000;
  process.on("message", () => {
    const first = arrivals[0] ?? 0;
    const offsets = arrivals.map((at, index) => at - first - (index * 1_000) / ratePerS);
    const middle = [...offsets].sort((a, b) => a - b)[offsets.length >> 1] ?? 0;
    const errors = offsets.map((offset) => Math.abs(offset - middle)).sort((a, b) => a - b);
    const at = (share: number) => errors[Math.floor(share * (errors.length - 1))] ?? 0;
    process.send?.({ count: arrivals.length, errorP50Ms: at(0.5), errorP99Ms: at(0.99) } satisfies Truth);
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
}

async function compare(): Promise<void> {
  const args = process.argv.slice(2);
  const option = (name: string, otherwise: number) => {
    const at = args.indexOf(`--${name}`);
    return at === -1 ? otherwise : Number(args[at + 1]);
  };
  const ratePerS = option("rate", 4_000);
  const seconds = option("seconds", 8);
  const folder = mkdtempSync(join(tmpdir(), "gauntlet-bench-"));
  const rows: Record<string, string | number>[] = [];
  const tools: Record<string, (url: string) => readonly string[]> = {
    gauntlet: (url) => {
      const load = { kind: "constant", ratePerS, durationS: seconds };
      const mix = [{ dialect: "chat", model: "m", promptTokens: 8, maxTokens: 16 }];
      writeFileSync(join(folder, "w.yaml"), JSON.stringify({ name: "bench", arrivals: load, mix }));
      writeFileSync(join(folder, "t.yaml"), JSON.stringify({ baseUrl: url, keys: { valid: "env:BENCH_KEY" } }));
      return [
        process.execPath,
        MAIN,
        "load",
        join(folder, "w.yaml"),
        "--target",
        join(folder, "t.yaml"),
        "--json",
        "--out",
        join(folder, "run"),
      ];
    },
    autocannon: (url) => [
      process.execPath,
      AUTOCANNON,
      "-c",
      String(Math.ceil(ratePerS * 0.3)),
      "-R",
      String(ratePerS),
      "-d",
      String(seconds),
      "-m",
      "POST",
      "-b",
      "{}",
      "--json",
      `${url}/chat/completions`,
    ],
    ...(args.includes("--k6")
      ? { k6: (url: string) => ["k6", "run", "-q", "--no-usage-report", k6Script(folder, url, ratePerS, seconds)] }
      : {}),
  };
  for (const [tool, command] of Object.entries(tools)) {
    const worker = fork(fileURLToPath(import.meta.url), ["--serve", String(ratePerS)], { execArgv: process.execArgv });
    const [port] = (await once(worker, "message")) as [number];
    const [file = "", ...rest] = command(`http://127.0.0.1:${port}/v1`);
    const child = spawn(
      "/usr/bin/env",
      ["bash", "-c", 'TIMEFORMAT="%U %S"; time "$0" "$@" >/dev/null 2>/dev/null', file, ...rest],
      {
        env: { ...process.env, BENCH_KEY: "sk-bench-0123456789" },
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    let told = "";
    child.stderr.on("data", (bytes: Buffer) => {
      told += bytes.toString();
    });
    await once(child, "exit");
    worker.send("truth");
    const [truth] = (await once(worker, "message")) as [Truth];
    worker.kill();
    const cpuS = told
      .trim()
      .split(/\s+/)
      .slice(-2)
      .reduce((sum, text) => sum + Number(text), 0);
    rows.push({
      tool,
      requests: truth.count,
      "schedule error p50 ms": Number(truth.errorP50Ms.toFixed(2)),
      "schedule error p99 ms": Number(truth.errorP99Ms.toFixed(2)),
      "CPU s": Number(cpuS.toFixed(2)),
      "µs per request": Number(((cpuS * 1e6) / Math.max(1, truth.count)).toFixed(1)),
    });
  }
  console.table(rows);
  const own = Number(rows[0]?.["µs per request"]);
  for (const row of rows.slice(1)) {
    console.log(`CPU per request, gauntlet to ${row["tool"]}: ${(own / Number(row["µs per request"])).toFixed(2)}`);
  }
  rmSync(folder, { recursive: true, force: true });
}

function k6Script(folder: string, url: string, ratePerS: number, seconds: number): string {
  const vus = Math.max(20, Math.ceil(ratePerS * 0.3));
  const path = join(folder, "k6.js");
  writeFileSync(
    path,
    `import http from 'k6/http';
export const options = { discardResponseBodies: true, scenarios: { a: { executor: 'constant-arrival-rate', rate: ${ratePerS}, timeUnit: '1s', duration: '${seconds}s', preAllocatedVUs: ${vus}, maxVUs: ${vus * 4} } } };
export default function () { http.post('${url}/chat/completions', '{}', { headers: { 'Content-Type': 'application/json' } }); }
`,
  );
  return path;
}
