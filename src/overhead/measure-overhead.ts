import { UsageError } from "../core/index.ts";
import type { Frontier, Overhead, OverheadLevel } from "../record/index.ts";
import { controlMessage } from "./control.ts";
import { diagnose } from "./diagnoses.ts";
import { frontierOf } from "./frontier.ts";
import { Lanes, paceOf } from "./lanes.ts";
import type { Level, OverheadOptions } from "./overhead-options.ts";
import { runLevel } from "./run-level.ts";
import { diagnoseUpstream } from "./upstream-diagnoses.ts";
import { gatherUpstreamFacts, type UpstreamFacts } from "./upstream-facts.ts";

/** Numbers of clients tried for the ceiling: increased until throughput stops growing. */
const CEILING_CLIENTS = [32, 64, 128, 256] as const;
const CEILING_S = 0.4;
const CEILING_REQUESTS = 20_000;
/** The number of clients is increased as long as throughput grows by this factor. */
const MIN_GROWTH_FACTOR = 1.1;
/** For each arm before the measurement: programs are slower at first. */
const WARMUP_CLIENTS = 32;
const WARMUP_S = 2;
const WARMUP_REQUESTS = 10_000;
const LEVEL_OVERHEAD_S = 2;
const FRONTIER_S = 30;
const UPSTREAM_FACTS_S = 3;

/** The results, independent of how the measurement was started. */
export type Measured = Omit<Overhead, "direct" | "arguments">;

/** Measures every level. If interrupted, it returns the levels so far. */
export async function measureOverhead(options: OverheadOptions): Promise<Measured> {
  const { levels, rounds, gateways, stop } = options;
  const first = levels[0] as Level;
  const levelS = rounds * (gateways.length + 2) * options.blockS + LEVEL_OVERHEAD_S;
  options.onProgress("warming up", levels.length * levelS + gateways.length * FRONTIER_S);
  for (const stream of new Set(levels.map((level) => level.stream))) {
    await warmUp({ ...first, stream, concurrency: WARMUP_CLIENTS }, options);
  }
  const ceilings = new Map<string, number>();
  const ceilingOf = async (level: Level) => {
    const kind = `${level.stream} ${level.promptBytes}`;
    const known = ceilings.get(kind) ?? (await ceilingFor(level, options));
    ceilings.set(kind, known);
    return known;
  };
  const ceilingPerS = await ceilingOf({ ...first, stream: false });
  const found: (readonly OverheadLevel[])[] = [];
  for (const [ordinal, level] of levels.entries()) {
    if (stop.aborted) break;
    options.onProgress(textOf(level), (levels.length - ordinal) * levelS + gateways.length * FRONTIER_S);
    found.push(await runLevel(level, { ceilingPerS: await ceilingOf(level), ordinal }, options));
  }
  const frontiers: Frontier[] = [];
  for (const [index, { name }] of gateways.entries()) {
    if (stop.aborted || !options.frontier) break;
    options.onProgress(`${name} at rising rates`, (gateways.length - index) * FRONTIER_S);
    frontiers.push(await frontierOf(index, ceilingPerS, options));
  }
  const facts: (UpstreamFacts | undefined)[] = [];
  for (const [index, { log, ...gateway }] of gateways.entries()) {
    if (stop.aborted || log === undefined) continue;
    options.onProgress(`${gateway.name}: requests in its upstream's log`, (gateways.length - index) * UPSTREAM_FACTS_S);
    facts[index] = await gatherUpstreamFacts(gateway, log, options);
  }
  const levelsOf = (arm: number) => found.flatMap((arms) => arms[arm] ?? []);
  const control = levelsOf(0);
  return {
    ceilingPerS: Math.round(ceilingPerS),
    rounds,
    arms: gateways.map(({ name }, index) => ({
      name,
      levels: levelsOf(index + 1),
      ...(frontiers[index] === undefined ? {} : { frontier: frontiers[index] }),
      diagnoses: [...diagnose(levelsOf(index + 1)), ...diagnoseUpstream(facts[index])],
    })),
    control: { name: "direct", levels: control, ...controlMessage(control) },
  };
}

/** `8 clients, streaming, prompt of 1000 bytes`. */
export function textOf({ concurrency, stream, promptBytes }: Level): string {
  const clients = `${concurrency} ${concurrency === 1 ? "client" : "clients"}`;
  return `${clients}, ${stream ? "streaming" : "non-streaming"}, prompt of ${promptBytes} bytes`;
}

/** @throws UsageError if an arm serves nothing: there is nothing to measure. */
async function warmUp(level: Level, options: OverheadOptions): Promise<void> {
  const arms = [options.direct, ...options.gateways];
  await using lanes = await Lanes.open(arms, level, options);
  for (const [index, lane] of lanes.all.entries()) {
    const warmed = await paceOf(lane, {
      inFlight: level.concurrency,
      requests: WARMUP_REQUESTS,
      durationS: WARMUP_S,
    });
    if (warmed.served > 0 || options.stop.aborted) continue;
    const [kind] = [...warmed.errors.values()].sort((a, b) => b.count - a.count);
    // A gateway that responds with an unusable 2xx is not misconfigured: its behaviour is measured, and fails.
    if (index > 0 && (kind?.outcome === "invalid" || kind?.outcome === "unfinished")) continue;
    const how = level.stream ? "streaming" : "non-streaming";
    throw new UsageError(
      `${arms[index]?.name} served none of ${warmed.requests} ${how} requests: ${kind?.what ?? "no response"}`,
      { hint: "Check the address, the key, the model and the limits that its target file names." },
    );
  }
}

/** Maximum requests per second of a kind that the upstream serves directly. */
async function ceilingFor(level: Level, options: OverheadOptions): Promise<number> {
  let best = 0;
  const arms = [options.direct];
  await using lanes = await Lanes.open(arms, level, options, CEILING_CLIENTS.at(-1));
  for (const inFlight of CEILING_CLIENTS) {
    if (options.stop.aborted) break;
    const { perS } = await paceOf(lanes.direct, { inFlight, requests: CEILING_REQUESTS, durationS: CEILING_S });
    if (perS < best * MIN_GROWTH_FACTOR) return Math.max(best, perS);
    best = perS;
  }
  return best;
}
