import { seededRandom } from "../core/index.ts";
import type { BlockTimes } from "../load/index.ts";
import type { OverheadLevel } from "../record/index.ts";
import { addedBetween, quantilesMs, type Round } from "./added.ts";
import { balancedOrders, Lanes, type Pace, paceOf } from "./lanes.ts";
import type { Level, OverheadOptions } from "./overhead-options.ts";

/** The result of each arm of a level, starting with the control. */
export type LevelOfArms = readonly OverheadLevel[];

/** Sufficient number of requests in a block; more make it longer, not more precise. */
const ENOUGH_REQUESTS = 250;
/** Minimum number of requests in a block with a slow upstream, and how much longer it may take to collect them. */
const MIN_REQUESTS = 20;
const MAX_LONGER = 2;
/** Clients are queueing if a response takes this many times as long as for a single client. */
const QUEUES_AT = 1.25;
/** All arms then get requests at this share of the slowest arm's throughput, so that each of them is idle between requests. */
const HELD_SHARE = 0.5;
/** The same if the slowest arm's throughput is below this share of the fastest arm's: an arm that idles longer responds later. */
const ALIKE_SHARE = 0.8;
/** A figure within 10 % of the upstream's throughput says more about the upstream. */
const BOUND_SHARE = 0.9;
const PROBE_REQUESTS = 200;
/**
 * A process that slept longer takes longer to wake up (on virtual machines, about 60 µs more after a few hundred µs): two
 * servers of different speed cannot be distinguished more precisely. Between two tokens, all processes are awake.
 */
export const RESOLUTION_US = 60;
const GAP_RESOLUTION_US = 10;

/**
 * Measures one level. Clients that send the next request immediately fill the queue of the slowest part, and their latency is
 * then the length of the queue, whatever the gateway adds. In that case, all arms get the same arrivals at half of the slowest
 * arm's throughput.
 */
export async function runLevel(
  level: Level,
  { ceilingPerS, ordinal }: { readonly ceilingPerS: number; readonly ordinal: number },
  options: OverheadOptions,
): Promise<LevelOfArms> {
  const arms = [options.direct, ...options.gateways];
  await using lanes = await Lanes.open(arms, level, options);
  const paces = await pacesOf(lanes, level, options.blockS);
  const heldAtPerS = heldAt(paces);
  const seed = options.seed + ordinal * 1_000;
  const rounds: BlockTimes[][] = [];
  for (const order of balancedOrders(arms.length + 1, options.rounds, seededRandom(seed))) {
    if (options.stop.aborted) break;
    const blocks: BlockTimes[] = [];
    for (const index of order) {
      // The last one is the upstream again.
      const lane = index === arms.length ? 0 : index;
      const pace = paces[lane] as Probed;
      if (pace.all.served === 0) continue;
      const arrivals = arrivalsOf(level, pace.all, heldAtPerS, options.blockS);
      blocks[index] = await (lanes.all[lane] as Lanes["direct"]).run(arrivals, seed + rounds.length);
    }
    rounds.push(blocks);
  }
  const figures = { level, ceilingPerS, heldAtPerS, seed };
  const control = figuresOf(roundsOf(rounds, [0], arms.length), paces[0] as Probed, figures);
  const gateways = options.gateways.map((_, index) =>
    figuresOf(roundsOf(rounds, [0, arms.length], index + 1), paces[index + 1] as Probed, figures),
  );
  return [control, ...gateways];
}

/** Throughput of an arm with one client, and with all clients of the level. */
interface Probed {
  readonly one: Pace;
  readonly all: Pace;
}

async function pacesOf(lanes: Lanes, { concurrency }: Level, blockS: number): Promise<Probed[]> {
  const paces: Probed[] = [];
  for (const lane of lanes.all) {
    const probe = (inFlight: number) =>
      paceOf(lane, { inFlight, requests: Math.max(PROBE_REQUESTS, 3 * inFlight), durationS: blockS });
    const one = await probe(1);
    paces.push({ one, all: concurrency === 1 ? one : await probe(concurrency) });
  }
  return paces;
}

function heldAt(paces: readonly Probed[]): number | null {
  const served = paces.filter(({ all }) => all.perS > 0);
  const rates = served.map(({ all }) => all.perS);
  const slowest = Math.min(...rates);
  if (served.length < 2) return null;
  const isQueueing = served.some(({ one, all }) => all.meanUs > one.meanUs * QUEUES_AT);
  if (!isQueueing && slowest >= ALIKE_SHARE * Math.max(...rates)) return null;
  return slowest * HELD_SHARE;
}

function arrivalsOf({ concurrency }: Level, { perS }: Pace, heldAtPerS: number | null, blockS: number) {
  const ratePerS = Math.max(heldAtPerS ?? perS, 0.1);
  const durationS = Math.min(
    blockS * MAX_LONGER,
    Math.max(MIN_REQUESTS / ratePerS, Math.min(blockS, ENOUGH_REQUESTS / ratePerS)),
  );
  if (heldAtPerS !== null) return { kind: concurrency === 1 ? "constant" : "poisson", ratePerS, durationS } as const;
  // Twice the expected number: a bound on the number, not the end of the block.
  const requests = Math.max(concurrency, Math.ceil(2 * durationS * ratePerS));
  return { kind: "closed", inFlight: concurrency, requests, durationS, rampS: 0 } as const;
}

interface RoundBlocks {
  readonly direct: readonly BlockTimes[];
  readonly through: BlockTimes;
}

function roundsOf(
  rounds: readonly (readonly BlockTimes[])[],
  direct: readonly number[],
  through: number,
): RoundBlocks[] {
  return rounds.flatMap((blocks) => {
    const own = blocks[through];
    return own === undefined ? [] : [{ direct: direct.flatMap((index) => blocks[index] ?? []), through: own }];
  });
}

interface LevelFacts {
  readonly level: Level;
  readonly ceilingPerS: number;
  readonly heldAtPerS: number | null;
  readonly seed: number;
}

function figuresOf(
  rounds: readonly RoundBlocks[],
  { one, all }: Probed,
  { level, ceilingPerS, heldAtPerS, seed }: LevelFacts,
): OverheadLevel {
  const timesOf = (read: (block: BlockTimes) => readonly number[]): Round[] =>
    rounds.map(({ direct, through }) => ({ direct: direct.flatMap(read), through: read(through) }));
  const added = (read: (block: BlockTimes) => readonly number[], resolutionUs = RESOLUTION_US) =>
    addedBetween(timesOf(read), { seed, resolutionUs });
  const blocks = rounds.map(({ through }) => through);
  const directs = rounds.flatMap(({ direct }) => direct);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  // An arm that serves nothing gets no more requests; the ones already sent show why.
  const counted = all.served === 0 ? [one, all] : blocks;
  const requests = sum(counted.map((block) => block.requests));
  const served = sum(blocks.map(({ responseUs }) => responseUs.length));
  const durationS = sum(blocks.map((block) => block.durationS));
  const requestsPerS = durationS === 0 ? 0 : served / durationS;
  const hasGaps = blocks.some(({ gapUs }) => gapUs.length > 0) && directs.some(({ gapUs }) => gapUs.length > 0);
  return {
    ...level,
    requests,
    errors: requests - served,
    errorKinds: kindsOf(counted),
    addedMs: added(({ responseUs }) => responseUs),
    addedTtftMs: level.stream ? added(({ ttftUs }) => ttftUs) : null,
    addedGapMs: level.stream && hasGaps ? added(({ gapUs }) => gapUs, GAP_RESOLUTION_US) : null,
    directMs: quantilesMs(directs.flatMap(({ responseUs }) => responseUs)),
    throughMs: quantilesMs(blocks.flatMap(({ responseUs }) => responseUs)),
    ttftMs: level.stream ? { direct: middleMs(directs), through: middleMs(blocks) } : null,
    eventsPerRead: level.stream ? { direct: perRead(directs), through: perRead(blocks) } : null,
    requestsPerS: inTenths(requestsPerS),
    peakPerS: inTenths(all.perS),
    heldAtPerS: heldAtPerS === null ? null : inTenths(heldAtPerS),
    ceilingPerS: inTenths(ceilingPerS),
    upstreamBound: Math.max(requestsPerS, all.perS) >= BOUND_SHARE * ceilingPerS,
  };
}

function kindsOf(blocks: readonly Pick<BlockTimes, "errors">[]): OverheadLevel["errorKinds"] {
  const kinds = new Map<string, OverheadLevel["errorKinds"][number]>();
  for (const [key, kind] of blocks.flatMap(({ errors }) => [...errors])) {
    kinds.set(key, { ...kind, count: kind.count + (kinds.get(key)?.count ?? 0) });
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count);
}

function middleMs(blocks: readonly BlockTimes[]): number | null {
  return quantilesMs(blocks.flatMap(({ ttftUs }) => ttftUs)).p50;
}

function perRead(blocks: readonly BlockTimes[]): number {
  const reads = blocks.reduce((sum, block) => sum + block.reads, 0);
  const events = blocks.reduce((sum, block) => sum + block.events, 0);
  return reads === 0 ? 0 : Math.round((events / reads) * 100) / 100;
}

const inTenths = (value: number): number => Math.round(value * 10) / 10;
