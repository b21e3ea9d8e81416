import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { InternalError, messageOf, onAbort } from "../../core/index.ts";
import { segmentsOf } from "./segments.ts";

export interface InstancesOptions {
  readonly k6: string;
  readonly script: string;
  readonly planPath: string;
  /** Raw outputs are written here, one per instance. */
  readonly folder: string;
  readonly instances: number;
  /** Keys, other secrets and the base address: passed in k6's environment, never in its arguments. */
  readonly environment: Readonly<Record<string, string>>;
  /** First signal: let running requests finish. */
  readonly stop: AbortSignal;
  /** Second signal: stop everything immediately. */
  readonly abort: AbortSignal;
  readonly onProgress?: ((sent: ProgressOfInstances) => void) | undefined;
}

export interface ProgressOfInstances {
  readonly elapsedS: number;
  readonly sent: number;
  readonly admitted: number;
  readonly denied: number;
  /** How many of these were denied for a reason other than a limit. */
  readonly refused: number;
  readonly failed: number;
  /** Active virtual users. */
  readonly inFlight: number;
}

export interface RanInstance {
  readonly name: string;
  readonly segment: string;
  readonly output: string;
  /** How it ended, as text; empty if it finished. */
  readonly ended: string;
  readonly usage: ProcessUsage | undefined;
}

/** k6's exit code when a threshold is crossed: the test still ran to its end. */
const THRESHOLDS_CROSSED = 99;
/** A cold start compiles the scripts and creates every virtual user; observed: 2 s for 500 of them on a busy machine. */
const READY_MS = 120_000;
const POLL_MS = 100;
const TELL_MS = 1_000;
/** How much of k6's output is kept for error messages, characters. */
const SAID = 4_000;

interface Instance {
  readonly name: string;
  readonly segment: string;
  readonly output: string;
  readonly address: string;
  readonly child: ChildProcess;
  readonly exited: Promise<void>;
  said: string;
  usage: ProcessUsage | undefined;
}

/**
 * Starts the instances paused, lets them begin together when all are ready, and waits until all have exited. Forwards signals; an
 * instance that dies does not affect the others.
 *
 * @throws InternalError with the output of k6 if an instance does not start.
 */
export async function runInstances(options: InstancesOptions): Promise<RanInstance[]> {
  const ports = await freePorts(options.instances);
  const instances = segmentsOf(options.instances).map((share, index) =>
    start(options, `k6-${index + 1}`, share.segment, share.sequence, `127.0.0.1:${ports[index]}`),
  );
  const signalAll = (signal: NodeJS.Signals) => {
    for (const { child } of instances) if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  };
  using _stopping = onAbort(options.stop, () => signalAll("SIGINT"));
  using _aborting = onAbort(options.abort, () => signalAll("SIGKILL"));
  const watch = setInterval(() => {
    for (const one of instances) if (one.child.pid !== undefined) one.usage = usageOf(one.child.pid) ?? one.usage;
  }, POLL_MS);
  try {
    if (options.stop.aborted) signalAll("SIGINT");
    await Promise.all(instances.map((one) => ready(one, options.stop)));
    await Promise.all(instances.map((one) => resume(one, options.stop)));
    const report = progressReporter(instances, options.onProgress);
    await Promise.all(instances.map(({ exited }) => exited));
    report();
  } finally {
    clearInterval(watch);
    signalAll("SIGKILL");
  }
  return instances.map(({ name, segment, output, child, usage, said }) => ({
    name,
    segment,
    output,
    usage,
    ended: endOf(child, said),
  }));
}

function start(
  { k6, script, planPath, folder, environment, instances }: InstancesOptions,
  name: string,
  segment: string,
  sequence: string,
  address: string,
): Instance {
  const output = join(folder, `${name}.json`);
  const share = instances === 1 ? [] : ["--execution-segment", segment, "--execution-segment-sequence", sequence];
  const args = [
    "run",
    "--paused",
    "--quiet",
    "--summary-mode=disabled",
    "--no-usage-report",
    "--address",
    address,
    ...share,
  ];
  const child = spawn(k6, [...args, "--out", `json=${output}`, script], {
    env: {
      ...process.env,
      ...environment,
      K6_NO_USAGE_REPORT: "true",
      K6_AUTO_EXTENSION_RESOLUTION: "false",
      GAUNTLET_PLAN: planPath,
    },
    stdio: ["ignore", "pipe", "pipe"],
    // A separate process group: Ctrl-C then reaches k6 once, through us. Twice would stop it immediately.
    detached: true,
  });
  const exited = once(child, "close").then(
    () => undefined,
    () => undefined,
  );
  const instance: Instance = {
    name,
    segment: instances === 1 ? "0:1" : segment,
    output,
    address,
    child,
    exited,
    said: "",
    usage: undefined,
  };
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (bytes: Buffer) => {
      instance.said = (instance.said + bytes.toString("utf8")).slice(-SAID);
    });
  child.on("error", (error) => {
    instance.said += messageOf(error);
  });
  return instance;
}

const isOver = ({ child }: Instance): boolean =>
  child.exitCode !== null || child.signalCode !== null || child.pid === undefined;

/** Waits until the instance is paused and fully initialised. */
async function ready(instance: Instance, stop: AbortSignal): Promise<void> {
  const untilMs = Date.now() + READY_MS;
  for (;;) {
    if (isOver(instance) && !stop.aborted)
      throw new InternalError(`${instance.name} did not start: ${lastLine(instance.said)}`);
    if (stop.aborted) return;
    const status = await callApi(instance, "GET", "/v1/status");
    if (status?.includes('"paused":true') && /"status":[3-9]/.test(status)) return;
    if (Date.now() > untilMs) throw new InternalError(`${instance.name} was not ready after ${READY_MS / 1_000} s`);
    await delay(POLL_MS);
  }
}

async function resume(instance: Instance, stop: AbortSignal): Promise<void> {
  if (stop.aborted) return;
  await callApi(instance, "PATCH", "/v1/status", {
    data: { type: "status", id: "default", attributes: { paused: false } },
  });
}

async function callApi(
  { address }: Instance,
  method: string,
  path: string,
  body?: object,
): Promise<string | undefined> {
  try {
    const response = await fetch(`http://${address}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      signal: AbortSignal.timeout(5_000),
    });
    return await response.text();
  } catch {
    // Not up yet, or already gone: the caller checks the process next.
    return undefined;
  }
}

/** @returns a function that stops the reports. */
function progressReporter(instances: readonly Instance[], onProgress: InstancesOptions["onProgress"]): () => void {
  if (onProgress === undefined) return () => {};
  const startMs = Date.now();
  const latest = new Map<Instance, ReadonlyMap<string, number>>();
  let busy = false;
  const timer = setInterval(async () => {
    if (busy) return;
    busy = true;
    for (const one of instances.filter((candidate) => !isOver(candidate))) {
      const text = await callApi(one, "GET", "/v1/metrics");
      if (text !== undefined) latest.set(one, countsIn(text));
    }
    busy = false;
    const sum = (name: string) => [...latest.values()].reduce((all, counts) => all + (counts.get(name) ?? 0), 0);
    onProgress({
      elapsedS: (Date.now() - startMs) / 1_000,
      sent: sum("gauntlet_sent"),
      admitted: sum("gauntlet_admitted"),
      denied: sum("gauntlet_denials"),
      refused: sum("gauntlet_refusals"),
      failed: sum("gauntlet_failures"),
      inFlight: sum("vus"),
    });
  }, TELL_MS);
  return () => clearInterval(timer);
}

function countsIn(text: string): ReadonlyMap<string, number> {
  try {
    const { data } = JSON.parse(text) as {
      data: { id: string; attributes: { sample: { count?: number; value?: number } } }[];
    };
    return new Map(data.map(({ id, attributes }) => [id, attributes.sample.count ?? attributes.sample.value ?? 0]));
  } catch {
    // The instance exited during the request: keep the previous figures.
    return new Map();
  }
}

function endOf({ exitCode, signalCode }: ChildProcess, said: string): string {
  if (exitCode === 0 || exitCode === THRESHOLDS_CROSSED) return "";
  return signalCode === null ? `ended with exit code ${exitCode}: ${lastLine(said)}` : `was ended by ${signalCode}`;
}

function lastLine(said: string): string {
  const lines = said.trim().split("\n");
  const last = lines.findLast((line) => /level=error/.test(line)) ?? lines.at(-1) ?? "";
  return last === "" ? "it said nothing" : last.slice(0, 500);
}

/** Free ports, all held at the same time so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}

interface ProcessUsage {
  readonly cpuS: number;
  readonly peakRssBytes: number;
}

/** Clock ticks per second in `/proc`; 100 on every Linux that Node runs on. */
const TICKS_PER_S = 100;

/** What one of our processes has used so far; `undefined` if it has exited, or without `/proc`. */
function usageOf(pid: number): ProcessUsage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name may contain spaces and parentheses: count the fields after the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    if (peak === undefined) return undefined;
    return { cpuS: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S, peakRssBytes: Number(peak) * 1_024 };
  } catch {
    // Not Linux, or the process has exited.
    return undefined;
  }
}
