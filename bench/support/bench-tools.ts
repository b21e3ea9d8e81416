import { type ChildProcess, fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "../../src/core/index.ts";
import type { Pacing, Truth } from "./paced-server.ts";

export const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
export const AUTOCANNON = fileURLToPath(new URL("../../node_modules/autocannon/autocannon.js", import.meta.url));
const KEY = "sk-bench-0123456789";
/** The version of oha used for the figures in docs/performance.md. */
const OHA_VERSION = "1.16.0";

/** Starts the server of `paced-server.ts`. */
export async function startPacedServer(pacing: Partial<Pacing>) {
  const file = fileURLToPath(new URL("./paced-server.ts", import.meta.url));
  const given: Pacing = { latencyMs: 100, firstMs: 100, gapMs: 20, events: 64, replyBytes: 0, ...pacing };
  const child: ChildProcess = fork(file, [JSON.stringify(given)], { execArgv: ["--import", "tsx"] });
  const [port] = (await once(child, "message")) as [number];
  return {
    url: `http://127.0.0.1:${port}/v1`,
    /** What it has received and done so far. */
    truth: async (): Promise<Truth> => {
      child.send("truth");
      return (await once(child, "message"))[0] as Truth;
    },
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

/** What a command used, from start to exit. */
export interface Cost {
  /** User and system time, as the kernel counts it for the ended process. */
  readonly cpuS: number;
  /** `undefined` if the system does not report it. */
  readonly peakRssMb: number | undefined;
  /** Wall clock of the start, ms since the epoch. */
  readonly startedAtMs: number;
  /** From its start to its end. */
  readonly wallS: number;
  readonly stdout: string;
}

/** Runs a command until it exits, whatever the exit code. */
export async function run([file = "", ...args]: readonly string[]): Promise<Cost> {
  const startedAtMs = Date.now();
  const timed = 'TIMEFORMAT="cpu %U %S"; time "$0" "$@"';
  const child = spawn("bash", ["-c", timed, file, ...args], {
    env: { ...process.env, BENCH_KEY: KEY, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (bytes: Buffer) => {
    stdout += bytes.toString();
  });
  child.stderr.on("data", (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  let peakRssMb: number | undefined;
  const looking = setInterval(() => {
    peakRssMb = Math.max(peakRssMb ?? 0, peakOfChildren(child.pid ?? 0) ?? 0) || undefined;
  }, 200);
  const [code] = (await once(child, "close")) as [number | null];
  const wallS = (Date.now() - startedAtMs) / 1_000;
  clearInterval(looking);
  const [, user, system] = /cpu ([\d.]+) ([\d.]+)\s*$/.exec(stderr) ?? [];
  if (user === undefined || (code !== 0 && stdout === ""))
    throw new Error(`${file} did not run: ${stderr.slice(-500)}`);
  return { cpuS: Number(user) + Number(system), peakRssMb, startedAtMs, wallS, stdout };
}

/** Maximum resident memory of what a shell started, MB. */
function peakOfChildren(pid: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(/\s+/).filter(Boolean);
    const peaks = children.map((child) =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child}/status`, "utf8"))?.[1]),
    );
    return peaks.length === 0 ? undefined : peaks.reduce((sum, kb) => sum + kb, 0) / 1_024;
  } catch {
    return undefined;
  }
}

/** Command line of one of our load runs; it prints one JSON document. */
export function gauntletLoad(
  folder: string,
  url: string,
  workload: object,
  { name = "bench", main = MAIN }: { readonly name?: string; readonly main?: string } = {},
): readonly string[] {
  const [file, target] = [join(folder, `${name}.json`), join(folder, "target.json")];
  writeFileSync(file, JSON.stringify({ name, ...workload }));
  writeFileSync(
    target,
    JSON.stringify({
      name: "bench",
      baseUrl: url,
      keys: { valid: "env:BENCH_KEY" },
      models: { chat: "m", stream: "m" },
    }),
  );
  const out = join(folder, `${name}-${Date.now()}`);
  return [process.execPath, main, "load", file, "--target", target, "--json", "--out", out];
}

/** @returns path of oha: from PATH, or built by cargo (some minutes) and kept in the temporary folder. */
export function findOha(): string {
  if (spawnSync("oha", ["--version"]).status === 0) return "oha";
  const root = join(tmpdir(), `gauntlet-oha-${OHA_VERSION}`);
  const built = join(root, "bin/oha");
  if (existsSync(built)) return built;
  console.error(`building oha ${OHA_VERSION} with cargo …`);
  mkdirSync(root, { recursive: true });
  const args = ["install", "oha", "--version", OHA_VERSION, "--locked", "--root", root];
  const { status } = spawnSync("cargo", args, { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error("oha is neither on PATH nor could cargo build it");
  return built;
}

/** One row of a table: medians of runs, with the lowest and highest in brackets. */
export function medianRow(runs: readonly Readonly<Record<string, number | undefined>>[], digits = 1) {
  const columns = Object.keys(runs[0] ?? {});
  return Object.fromEntries(
    columns.map((column) => {
      const values = runs.flatMap((each) => each[column] ?? []);
      if (values.length === 0) return [column, "?"];
      const text = (value: number) => value.toFixed(digits);
      return [column, `${text(median(values))} (${text(Math.min(...values))} … ${text(Math.max(...values))})`];
    }),
  );
}
