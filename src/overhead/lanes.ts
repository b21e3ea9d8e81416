import type { Random } from "../core/index.ts";
import { type BlockTimes, RequestLane } from "../load/index.ts";
import type { LaneTarget, Level, OverheadControl } from "./overhead-options.ts";

/** Open connections of all arms for one level, starting with the upstream. */
export class Lanes implements AsyncDisposable {
  readonly direct: RequestLane;
  readonly gateways: readonly RequestLane[];

  private constructor(all: readonly RequestLane[]) {
    [this.direct, ...this.gateways] = all as [RequestLane, ...RequestLane[]];
  }

  static async open(
    arms: readonly LaneTarget[],
    level: Level,
    { stop, abort }: OverheadControl,
    connections = level.concurrency,
  ): Promise<Lanes> {
    const all: RequestLane[] = [];
    for (const { target, guard, requestOf } of arms)
      all.push(await RequestLane.open({ target, request: requestOf(level), connections, guard, stop, abort }));
    return new Lanes(all);
  }

  get all(): readonly RequestLane[] {
    return [this.direct, ...this.gateways];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const lane of this.all) await lane[Symbol.asyncDispose]();
  }
}

/** Throughput of a lane with clients that send the next request immediately. */
export interface Pace {
  readonly perS: number;
  /** Mean response time. */
  readonly meanUs: number;
  readonly requests: number;
  readonly served: number;
  readonly errors: BlockTimes["errors"];
}

export async function paceOf(
  lane: RequestLane,
  {
    inFlight,
    requests,
    durationS,
  }: { readonly inFlight: number; readonly requests: number; readonly durationS: number },
): Promise<Pace> {
  const block = await lane.run({ kind: "closed", inFlight, requests, durationS, rampS: 0 }, 0);
  const served = block.responseUs.length;
  return {
    perS: block.durationS === 0 ? 0 : served / block.durationS,
    meanUs: served === 0 ? 0 : block.responseUs.reduce((sum, value) => sum + value, 0) / served,
    requests: block.requests,
    served,
    errors: block.errors,
  };
}

/** Block indexes in random order; every second round reverses the previous one. */
export function* balancedOrders(blocks: number, rounds: number, random: Random): Generator<readonly number[]> {
  let order: number[] = [];
  for (let round = 0; round < rounds; round++) {
    order = round % 2 === 1 ? [...order].reverse() : shuffled(blocks, random);
    yield order;
  }
}

function shuffled(count: number, random: Random): number[] {
  const left = Array.from({ length: count }, (_, index) => index);
  return Array.from({ length: count }, () => left.splice(Math.floor(random() * left.length), 1)[0] ?? 0);
}
