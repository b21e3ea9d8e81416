import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { canaryKey, filesBelow, tracesOf } from "../support/canary.ts";
import { MAIN, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { type Listening, listening } from "../support/listening.ts";
import { searchable, unzipped } from "../support/run-files.ts";

const NAMES = ["valid", "second", "revoked", "empty", "other"];
const TARGET = ["--target", "gauntlet.yaml"];
/** Placeholder for the address of an endpoint that repeats the key in a label. */
const METRICS = "http://metrics.invalid/metrics";
const K6 = process.env["K6_PATH"];
const BRIEF_OVERHEAD = [
  "--concurrency",
  "1",
  "--prompt-bytes",
  "100",
  "--rounds",
  "4",
  "--block-s",
  "0.05",
  "--no-frontier",
];

export interface CanaryCase {
  readonly name: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Sent as soon as the run's journal exists in the folder that `--out` names in `args`. */
  readonly signal?: NodeJS.Signals;
  /** Shell commands before it is started, such as `ulimit -c unlimited`. */
  readonly limits?: string;
  /** Exit code, if it is not that of a successful command. */
  readonly ends?: number | NodeJS.Signals;
}

export interface CanaryResult {
  readonly name: string;
  readonly command: string;
  readonly files: number;
  readonly searchedBytes: number;
  /** Where a key appeared, and what else was not as required; empty: it survived. */
  readonly complaints: readonly string[];
}

const conform = (out: string, ...rest: string[]) => ["conform", "models", "chat", ...TARGET, "--out", out, ...rest];
const works = (...args: string[]): CanaryCase => ({ name: args.slice(0, 3).join(" "), args });

/**
 * Every command that can have seen a key, with runs that succeed, fail, and are interrupted. The order matters: some read the
 * output of others.
 */
export const CANARY_CASES: readonly CanaryCase[] = [
  works("load", "small.yaml", ...TARGET, "--out", "load"),
  works("load", "small.yaml", ...TARGET, "--workers", "2", "--json", "--out", "workers"),
  works("load", "small.yaml", ...TARGET, "--dry-run"),
  works("load", "closed.yaml", ...TARGET, "--out", "closed"),
  ...(K6 === undefined ? [] : [works("load", "small.yaml", "--engine", "k6", ...TARGET, "--out", "by-k6")]),
  works("limits", ...TARGET, "--budget-requests", "20", "--minutes", "0.05"),
  works("capacity", ...TARGET, ...["--objective", "failed < 1%", "--from", "5", "--to", "9"], "--minutes", "0.05"),
  works("doctor", ...TARGET),
  works("doctor", ...TARGET, "--json"),
  works("conform", "security", "chat", ...TARGET, "--out", "run"),
  works("conform", "models", ...TARGET, "--policy", "policy.yaml", "--out", "gated"),
  works("conform", "auth", ...TARGET, "--dry-run"),
  works("run", ...TARGET, "--only", "models.list", "--no-load", "--out", "non-streaming"),
  works("report", "run", ...["html", "sarif", "events", "openmetrics", "junit"].flatMap((one) => ["--format", one])),
  works("report", "load", "--print", "json"),
  works("report", "load", "--format", "llm-d"),
  works("report", "run", "--format", "claim"),
  works("verify-claim", "run/claim.json", "--record", "run"),
  works("matrix", "run/claim.json", "--records", ".", "--out", "matrix"),
  works("rejudge", "run"),
  works("waivers", "suggest", "run"),
  works("baseline", "accept", "load"),
  works("k6", "export", "small.yaml", ...TARGET, "--out", "exported"),
  works("k8s", "export", "small.yaml", ...TARGET, "--shards", "2", "--out", "pods"),
  works("load", "small.yaml", ...TARGET, ...["--shard", "1/2", "--start-at", "2026-01-01T00:00:00Z"], "--out", "shard"),
  works("merge", "shard", "--out", "merged"),
  works("load", "small.yaml", ...TARGET, "--live", "--metrics-port", "0", "--out", "watched"),
  {
    name: "load, metrics that repeat the key of their request",
    args: [
      ...["load", "small.yaml", ...TARGET, "--out", "scraped", "--watch-interval-s", "0.2"],
      ...["--watch-metrics", METRICS, "--watch-key", "env:CANARY_second"],
    ],
  },
  works("history", "load", "watched", "--db", "history.db", "--html", "history.html"),
  works("size", "small.yaml", ...TARGET),
  works("compare", "run", "gated", "--out", "compared"),
  works("compare", "gauntlet.yaml", "gauntlet.yaml", ...["--block-s", "0.3", "--rate", "10"], "--suites", "models"),
  works("client", "--scenario", "served", "--out", "client", "--", process.execPath, "client.mjs"),
  works("calibrate", "--seconds", "1"),
  works("checks"),
  works("explain", "SEC-1"),
  works("completion", "bash"),
  // Runs that fail.
  works("conform", "--target", "nowhere.yaml"),
  works("conform", "--target", "unreadable.yaml"),
  works("conform", "auth", "--target", "hooked.yaml"),
  works("conform", "--target", "pasted.yaml"),
  works("doctor", "--target", "wrong-key.yaml"),
  works("doctor", "--propose", "--out", "proposed.yaml"),
  works("doctor", "--target", "nowhere.yaml"),
  works("load", "small.yaml", "--target", "wrong-key.yaml", "--out", "refused"),
  works("compare", "gauntlet.yaml", "pasted.yaml"),
  works("gateway", "--keys", "keys-cut.json"),
  works("upstream", "--scenario", "keys-cut.json"),
  works("rejudge", "nothing"),
  works(...(conform("keys-cut.json") as [string])),
  { name: "conform, a suite that breaks with keys in its error", args: conform("broken", "--suite", "broken.mjs") },
  // Runs that are interrupted.
  { name: "conform, a file system that is full", args: conform("full"), limits: "ulimit -f 64" },
  { name: "conform, interrupted", args: conform("interrupted"), signal: "SIGINT", ends: 130 },
  { name: "conform, terminated", args: conform("terminated"), signal: "SIGTERM", ends: 143 },
  { name: "conform, killed", args: conform("killed"), signal: "SIGKILL", ends: "SIGKILL" },
  works("report", "killed"),
  {
    name: "conform, aborted where the system keeps core files",
    args: conform("aborted"),
    limits: "ulimit -c unlimited",
    signal: "SIGABRT",
    ends: "SIGABRT",
  },
  {
    name: "conform, with a diagnostic report requested",
    args: conform("diagnosed"),
    environment: { NODE_OPTIONS: "--report-on-signal --report-on-fatalerror --report-uncaught-exception" },
    signal: "SIGUSR2",
  },
  {
    name: "conform, an error that nobody caught, with a key in it",
    args: conform("crashed"),
    environment: { NODE_OPTIONS: "--import=./crash.mjs", CRASH_WHEN: "crashed/journal.ndjson.gz" },
    ends: 5,
  },
  // It uses up the key's requests for a minute.
  works("overhead", ...TARGET, "--direct", "gauntlet.yaml", "--anyway", ...BRIEF_OVERHEAD, "--out", "added"),
  // Last, because it overwrites the other target file.
  works("init", "--yes", "--base-url", "http://127.0.0.1:9/v1", "--force"),
];

/** Files that hold keys on purpose. */
const SOURCES = ["keys.json", "unreadable.yaml", "pasted.yaml", "hook.mjs", "keys-cut.json", "broken.mjs", "crash.mjs"];

function writeSources(folder: string, baseUrl: string): void {
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const keys = NAMES.map((name) => `  ${name}: env:CANARY_${name}`).join("\n");
  const target = `keys:\n${keys}\nmodels: { chat: echo-fast }\nlimits: { rpm: 6000, inFlight: 64 }\n`;
  write("gauntlet.yaml", `baseUrl: ${baseUrl}\n${target}`);
  write("nowhere.yaml", `baseUrl: http://127.0.0.1:9/v1\n${target}`);
  write("unreadable.yaml", `baseUrl: ${baseUrl}\nkeys:\n  valid: [*x\n  ${canaryKey("valid")}\n`);
  write("pasted.yaml", `baseUrl: ${baseUrl}\nkeys: { valid: ${canaryKey("valid")}, ${canaryKey("second")}: 1 }\n`);
  write("wrong-key.yaml", `baseUrl: ${baseUrl}\nkeys: { valid: env:CANARY_revoked, second: env:CANARY_empty }\n`);
  // A hook whose error message contains the key.
  const other = canaryKey("other");
  write("hook.mjs", `console.error("cannot: ${other}"); console.log('{"key": "${other}"'); process.exit(1);`);
  write(
    "hooked.yaml",
    `baseUrl: ${baseUrl}\nkeys: { valid: env:CANARY_valid, other: env:CANARY_other }\nprovision: { command: "node hook.mjs" }\n`,
  );
  write("keys-cut.json", `{"valid": ${canaryKey("valid")}`);
  write(
    "small.yaml",
    "name: small\narrivals: { kind: constant, ratePerS: 30, durationS: 1 }\nmix: [{ dialect: chat }, { dialect: chat, stream: true }]\n",
  );
  write("closed.yaml", "name: closed\nengine: autocannon\narrivals: { kind: closed, inFlight: 2, durationS: 1 }\n");
  write("policy.yaml", "require: { suites: [models] }\n");
  write(
    "broken.mjs",
    `throw new Error("cannot parse ${canaryKey("valid")}", { cause: new Error("${canaryKey("second")}") });`,
  );
  // Thrown in a timer, as by a library: nobody catches it. The run's gateway does not matter.
  write(
    "crash.mjs",
    `import { existsSync } from "node:fs";
if (process.argv.includes("conform"))
  setInterval(() => {
    if (existsSync(process.env.CRASH_WHEN)) throw new Error("bad value ${canaryKey("valid")}");
  }, 10).unref();`,
  );
  // A client that reveals everything it was given.
  write(
    "client.mjs",
    `console.log(JSON.stringify(process.env)); await fetch(process.env.OPENAI_BASE_URL + "/models", { headers: { authorization: "Bearer " + process.env.CANARY_valid } });`,
  );
}

/** Runs cases one after the other, and searches the output and files of each, and the arguments of all processes. */
export async function runCanaries(
  cases: readonly CanaryCase[],
  onResult: (result: CanaryResult) => void = () => {},
): Promise<CanaryResult[]> {
  using folder = temporaryFolder();
  const keyFile = join(folder.path, "keys.json");
  writeFileSync(keyFile, JSON.stringify(Object.fromEntries(NAMES.map((name) => [name, canaryKey(name)]))));
  // It repeats keys in replies and headers.
  const mutations = ["security.key-in-reply", "security.key-encoded-in-header"].flatMap((name) => ["--mutation", name]);
  await using gateway = startGauntlet(["gateway", "--keys", keyFile, ...mutations]);
  writeSources(folder.path, JSON.parse(await gateway.printed("\n")).baseUrl);
  await using metrics = await repeatingMetrics();
  const results: CanaryResult[] = [];
  for (const one of cases) {
    const args = one.args.map((arg) => (arg === METRICS ? `${metrics.origin}/metrics` : arg));
    const result = await runCanary({ ...one, args }, folder.path);
    onResult(result);
    results.push(result);
  }
  return results;
}

/** Metrics of a gateway that mistakes what it was sent for the caller's name. */
async function repeatingMetrics(): Promise<Listening> {
  const server = createServer((request, response) => {
    const { authorization = "" } = request.headers;
    const encoded = encodeURIComponent(authorization) + Buffer.from(authorization).toString("base64");
    response.end(`http_requests_total{caller="${authorization}"} 1\nprocess_open_fds{of="${encoded}"} 9\n`);
  });
  return listening(server, () => server.closeAllConnections());
}

async function runCanary(one: CanaryCase, folder: string): Promise<CanaryResult> {
  const beganMs = Date.now();
  const { ended, printed, argumentsSeen } = await play(one, folder);
  const files = filesBelow(folder).filter(
    (path) => !SOURCES.includes(path.slice(folder.length + 1)) && statSync(path).mtimeMs >= beganMs - 1_000,
  );
  const places: [string, string][] = [
    ["what it printed", printed],
    ["the arguments of a process", argumentsSeen],
    ...files.map((path): [string, string] => [path.slice(folder.length + 1), searchable(path).toString("latin1")]),
  ];
  const complaints = places.flatMap(([place, text]) => {
    const shown = NAMES.filter((name) => tracesOf(canaryKey(name)).some((trace) => text.includes(trace)));
    return shown.map((name) => `the key ${name} is in ${place}`);
  });
  const asExpected = one.ends === undefined ? typeof ended === "number" && ended !== 5 : ended === one.ends;
  if (!asExpected) complaints.push(`it ended with ${ended}: ${printed.slice(-300)}`);
  return {
    name: one.name,
    command: one.args[0] ?? "",
    files: files.length,
    searchedBytes: places.reduce((sum, [, text]) => sum + text.length, 0),
    complaints,
  };
}

/** Starts it through a shell, so that the shell's limits apply. */
async function play(one: CanaryCase, folder: string) {
  const command = `${one.limits === undefined ? "" : `${one.limits}; `}exec "$0" "$@"`;
  const child = spawn("bash", ["-c", command, process.execPath, MAIN, ...one.args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1", ...environmentOf(one) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  const seen = new Set<string>();
  const looking = setInterval(() => {
    for (const line of commandLines()) seen.add(line);
  }, 50);
  const finished = once(child, "close");
  if (one.signal !== undefined) await signalWhenUnderWay(child, one.signal, folder, one.args);
  const [code, signal] = await finished;
  clearInterval(looking);
  return { ended: (code ?? signal) as number | NodeJS.Signals, printed, argumentsSeen: [...seen].join("\n") };
}

function environmentOf({ environment }: CanaryCase): Record<string, string> {
  return { ...Object.fromEntries(NAMES.map((name) => [`CANARY_${name}`, canaryKey(name)])), ...environment };
}

/** A moment after the first lines of the journal: keys have been read and sent by then. */
async function signalWhenUnderWay(
  child: ChildProcess,
  signal: NodeJS.Signals,
  folder: string,
  args: readonly string[],
): Promise<void> {
  const journal = join(folder, args[args.indexOf("--out") + 1] ?? "", "journal.ndjson.gz");
  while (child.exitCode === null && !unzipped(journal).includes("check-")) await wait(10);
  child.kill(signal);
}

/** The arguments of every process; none if the system does not expose them as files. */
function commandLines(): string[] {
  if (!existsSync("/proc/self/cmdline")) return [];
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      return [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")];
    } catch {
      // It ended between the two calls.
      return [];
    }
  });
}
