import { seededRandom } from "../core/index.ts";
import type { BlockTimes } from "../load/index.ts";
import type { Added, Frontier } from "../record/index.ts";
import { addedBetween, type Round } from "./added.ts";
import { balancedOrders, Lanes, paceOf } from "./lanes.ts";
import type { OverheadOptions } from "./overhead-options.ts";
import { RESOLUTION_US } from "./run-level.ts";

/** Shares of a gateway's maximum throughput at which it is measured. */
const SHARES = [0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1] as const;
/** Added milliseconds at p99 for which the rate is determined. */
const BOUNDS_MS = [1, 2, 5, 10, 25] as const;
const CLIENTS = 128;
const ROUNDS = 4;
const BLOCK_S = 0.4;
const PROBE = { inFlight: CLIENTS, requests: 4_000, durationS: 0.5 } as const;
/** Sufficient number of requests in a block. */
const ENOUGH_REQUESTS = 1_500;
/** Requests per block with which all rounds together have a p99, and how long a block may take to collect them. */
const MIN_REQUESTS = 75;
const MAX_BLOCK_S = 2;
const BOUND_SHARE = 0.9;

/**
 * Added latency as a function of load: small non-streaming requests at rising rates, alternating between the gateway and direct.
 * The rate of a bound is the highest that was measured before the bound was exceeded for the first time.
 */
export async function frontierOf(gateway: number, ceilingPerS: number, options: OverheadOptions): Promise<Frontier> {
  const { direct, gateways, levels, stop, seed } = options;
  const level = { concurrency: CLIENTS, stream: false, promptBytes: levels[0]?.promptBytes ?? 1 };
  const arms = [direct, ...gateways.slice(gateway, gateway + 1)];
  await using lanes = await Lanes.open(arms, level, options);
  const [through] = lanes.gateways as [Lanes["direct"]];
  const maxRate = await paceOf(through, PROBE);
  const points: Frontier["points"] = [];
  for (const [ordinal, share] of SHARES.entries()) {
    const ratePerS = Math.min(maxRate.perS, ceilingPerS) * share;
    if (stop.aborted || ratePerS < 1) break;
    const rounds = await roundsAt(ratePerS, [lanes.direct, through], seed + ordinal);
    const added = addedBetween(rounds.map(timesOf), { seed, resolutionUs: RESOLUTION_US });
    const blocks = rounds.map((round) => round[1] as BlockTimes);
    const served = blocks.reduce((sum, { responseUs }) => sum + responseUs.length, 0);
    const servedPerS = served / blocks.reduce((sum, { durationS }) => sum + durationS, 0);
    points.push({
      offeredPerS: Math.round(ratePerS),
      servedPerS: Math.round(servedPerS),
      addedMs: added,
      upstreamBound: servedPerS >= BOUND_SHARE * ceilingPerS,
    });
    if (addedAtP99(added) > Math.max(...BOUNDS_MS)) break;
  }
  return { points, bounds: BOUNDS_MS.map((boundMs) => ({ addedP99Ms: boundMs, ...rateBelow(points, boundMs) })) };
}

async function roundsAt(ratePerS: number, lanes: readonly Lanes["direct"][], seed: number): Promise<BlockTimes[][]> {
  const neededS = Math.max(MIN_REQUESTS / ratePerS, Math.min(BLOCK_S, ENOUGH_REQUESTS / ratePerS));
  const durationS = Math.min(MAX_BLOCK_S, neededS);
  const rounds: BlockTimes[][] = [];
  for (const order of balancedOrders(lanes.length, ROUNDS, seededRandom(seed))) {
    const round: BlockTimes[] = [];
    for (const index of order) {
      // The same arrivals for both.
      const lane = lanes[index] as Lanes["direct"];
      round[index] = await lane.run({ kind: "poisson", ratePerS, durationS }, seed + rounds.length);
    }
    rounds.push(round);
  }
  return rounds;
}

function timesOf([direct, through]: readonly BlockTimes[]): Round {
  return { direct: direct?.responseUs ?? [], through: through?.responseUs ?? [] };
}

/** @returns the highest rate below the first one at which the added p99 exceeds the bound; `isPassed`: whether there is one. */
function rateBelow(
  points: Frontier["points"],
  boundMs: number,
): Pick<Frontier["bounds"][number], "requestsPerS" | "isPassed" | "upstreamBound"> {
  const passed = points.findIndex(({ addedMs }) => addedAtP99(addedMs) > boundMs);
  const below = passed === -1 ? points.at(-1) : points[passed - 1];
  return {
    requestsPerS: below?.servedPerS ?? null,
    isPassed: passed !== -1,
    upstreamBound: below?.upstreamBound ?? false,
  };
}

const addedAtP99 = ({ p99 }: Added): number => p99.value ?? 0;
