import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InternalError } from "../../core/index.ts";
import { type GeneratorCost, mergeOutputs, readOutput, runInstances } from "../../engines/index.ts";
import { DEFAULT_ALLOW, shortClass, type Workload } from "../../load/index.ts";
import { KEY_VARIABLES, planForK6, scriptFolder } from "../../run/loads/index.ts";
import { mainFile } from "../../run/open/index.ts";
import { startEmbedded, type Target } from "../../target/index.ts";

/** Requests of the measurement: enough CPU time to measure in ticks of 10 ms, few enough for a small machine. */
const RATE_PER_S = 150;
const RATE_S = 6;
const HELD = 150;
/** Enough for the rate; more would be unused, and each takes 3 ms to create. */
const USERS = 16;

/**
 * Measures the cost of k6 on this machine: a nearly idle run, a run of non-streaming replies, a run of concurrent streams; the
 * differences are the costs. Linux only.
 *
 * @throws InternalError if the CPU time of another process cannot be read.
 */
export async function measureCost(
  k6: string,
  signal: AbortSignal,
): Promise<GeneratorCost & { readonly heldS: number }> {
  // Streams of six seconds: long enough that creating a virtual user is a small part of the cost.
  const open = ["--limits", "10000000:100000", "--pieces", "40", "--pace", "150"];
  await using gateway = await startEmbedded({ command: [process.execPath, mainFile(), "gateway", ...open], signal });
  const { target } = gateway;
  const idle = await usageOf(k6, target, signal, { kind: "constant", ratePerS: 1, durationS: 2 }, false);
  const rate = await usageOf(k6, target, signal, { kind: "constant", ratePerS: RATE_PER_S, durationS: RATE_S }, false);
  const held = await usageOf(k6, target, signal, { kind: "burst", size: HELD, everyS: 7, durationS: 7 }, true);
  const cpuPerRequestS = Math.max(0, rate.cpuS - idle.cpuS) / rate.requests;
  const heldS = held.busyS / held.requests;
  return {
    cpuPerRequestS,
    // The request itself is counted above; the rest is the cost of the open stream.
    cpuPerHeldS: Math.max(0, held.cpuS - idle.cpuS - held.requests * cpuPerRequestS) / held.busyS,
    bytesPerHeld: Math.max(0, held.peakRssBytes - idle.peakRssBytes) / held.requests,
    baseBytes: idle.peakRssBytes,
    heldS,
  };
}

async function usageOf(
  k6: string,
  target: Target,
  stop: AbortSignal,
  arrivals: NonNullable<Workload["arrivals"]>,
  stream: boolean,
) {
  const workload: Workload = {
    name: "cost",
    arrivals,
    mix: [shortClass(target, stream)],
    maxInFlight: stream ? undefined : USERS,
    warmupS: 0,
    engine: "k6",
    retryAfter: "none",
    allow: DEFAULT_ALLOW,
    written: {},
  };
  const { plan, file, keys } = planForK6(workload, target, false, 1);
  const folder = mkdtempSync(join(tmpdir(), "gauntlet-k6-"));
  try {
    const planPath = join(folder, "plan.json");
    writeFileSync(planPath, JSON.stringify(file.content));
    const [ran] = await runInstances({
      k6,
      script: join(scriptFolder(), "gauntlet.ts"),
      planPath,
      folder,
      instances: 1,
      environment: { ...file.secrets, [KEY_VARIABLES[0]]: keys[0]?.reveal() ?? "" },
      stop,
      abort: stop,
    });
    if (ran === undefined || ran.ended !== "")
      throw new InternalError(`k6 was not measured: it ${ran?.ended ?? "did not run"}`);
    if (ran.usage === undefined)
      throw new InternalError("the processor time of k6 cannot be read on this system", { hint: "Pass --no-measure." });
    const output = await readOutput(ran.output);
    const merged = mergeOutputs({
      outputs: [{ name: ran.name, output, ended: "" }],
      groups: plan.groups,
      keys: [],
      sameClock: true,
    });
    const busyS = merged.observations.reduce((sum, { sentUs, endUs }) => sum + (endUs - sentUs), 0) / 1_000_000;
    return { ...ran.usage, requests: Math.max(1, merged.observations.length), busyS };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
