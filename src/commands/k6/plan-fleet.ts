import { EXIT, UsageError } from "../../core/index.ts";
import { findK6, type GeneratorCost, sizeFleet } from "../../engines/index.ts";
import type { Outcome, RunControl } from "../../run/control/index.ts";
import { measureCost } from "./measure-cost.ts";

export interface FleetOptions {
  /** Requests per minute, the unit of limits. */
  readonly rate: number;
  readonly inFlight: number;
  readonly cores: number;
  readonly memoryGib: number;
  readonly measure: boolean;
  readonly k6?: string | undefined;
}

/** Measured by `gauntlet k6 plan` on a shared 2-core AMD EPYC; docs/scale.md has the spread. */
const PUBLISHED: GeneratorCost = {
  cpuPerRequestS: 0.0015,
  cpuPerHeldS: 0.0006,
  bytesPerHeld: 655_000,
  baseBytes: 50_000_000,
};

const GIB = 1_024 ** 3;

/** How many instances a load needs, and what determines the number. */
export async function planFleet(options: FleetOptions, control: RunControl): Promise<Outcome> {
  const { rate, inFlight, cores, memoryGib } = options;
  for (const [name, value] of Object.entries({ rate, "in-flight": inFlight, cores, "memory-gib": memoryGib }))
    if (!(value > 0 && Number.isFinite(value))) throw new UsageError(`--${name} must be a number above 0`);
  const cost = options.measure ? await measured(options, control) : PUBLISHED;
  const fleet = sizeFleet(rate / 60, inFlight, cost, { cores, memoryBytes: memoryGib * GIB });
  if (!Number.isFinite(fleet.instances))
    throw new UsageError(`an instance of ${memoryGib} GiB has no room for k6 at all`, { hint: "Give it more memory." });
  const { instances, binding, perInstance, needs } = fleet;
  const text = `${instances} instance${instances === 1 ? "" : "s"} of ${cores} cores and ${memoryGib} GiB; the ${binding} decides
  each: ${(perInstance.ratePerS * 60).toFixed(0)} requests per minute, ${perInstance.inFlight} in flight, ${Math.round(perInstance.cpuShare * 100)} % of its cores, ${Math.round(perInstance.memoryBytes / 1e6)} MB
  needed for the processor ${needs.processor}, for memory ${needs.memory}, for connections ${needs.connections}
  k6 here: ${(cost.cpuPerRequestS * 1_000).toFixed(2)} ms of CPU time per request, ${(cost.cpuPerHeldS * 1_000).toFixed(2)} ms per stream and second, ${Math.round(cost.bytesPerHeld / 1_000)} kB per open connection, ${Math.round(cost.baseBytes / 1e6)} MB when idle${options.measure ? "" : " (published figures, not measured here)"}
`;
  return {
    exitCode: EXIT.pass,
    document: { ratePerMin: rate, inFlight, cores, memoryGib, cost, ...fleet },
    text: () => text,
  };
}

async function measured({ k6 }: FleetOptions, { interruption, onProgress }: RunControl): Promise<GeneratorCost> {
  const path = findK6(k6, process.env);
  onProgress({ kind: "note", text: "measuring k6 on this machine, about 20 s" });
  onProgress({ kind: "step", text: "measuring k6" });
  return await measureCost(path, interruption.signal);
}
