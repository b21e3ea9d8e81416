import { addressProblem, UsageError } from "../../core/index.ts";
import { boundOf, planOf, type Workload } from "../../load/index.ts";

/** Command-line options of a shard. */
export interface ShardOptions {
  /** One share of the schedule, `3/8`; other processes send the others. */
  readonly shard?: string | undefined;
  /** When all shares begin: ISO date-time with zone, or seconds since the epoch. */
  readonly startAt?: string | undefined;
  /** The server whose `Date` header is the clock of all shares; default: the target. */
  readonly timeSource?: string | undefined;
  readonly workers: number;
}

export interface ShardRequest {
  /** Starts at 1. */
  readonly index: number;
  readonly of: number;
  /** Unix epoch milliseconds, by the clock of the time source. */
  readonly startAtMs: number;
  readonly timeSource: string | undefined;
}

const MAX_SHARDS = 1_000;
const DAY_MS = 24 * 3_600_000;

/**
 * Parses the requested share of a load.
 *
 * @returns `undefined` for the whole load. @throws UsageError for an invalid share, or a load that cannot be shared.
 */
export function shardRequest(options: ShardOptions, workloads: readonly Workload[]): ShardRequest | undefined {
  const { shard, startAt, timeSource, workers } = options;
  if (shard === undefined) {
    for (const [name, value] of Object.entries({ "start-at": startAt, "time-source": timeSource }))
      if (value !== undefined) throw new UsageError(`--${name} is for a shard`, { hint: "Add --shard 1/3." });
    return undefined;
  }
  if (startAt === undefined)
    throw new UsageError("--shard needs --start-at: all shards of a load begin at the same time", {
      hint: "Give all of them the same time, such as --start-at $(($(date +%s) + 30)).",
    });
  const { index, of } = parseShard(shard);
  const startAtMs = parseStart(startAt);
  if (timeSource !== undefined) assertUrl(timeSource);
  if (workers > 0)
    throw new UsageError("--workers and --shard cannot be combined", { hint: "Start one more shard for each worker." });
  assertShared(workloads, of);
  return { index, of, startAtMs, timeSource };
}

function parseShard(text: string): { readonly index: number; readonly of: number } {
  const [, index = 0, of = 0] = (/^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? []).map(Number);
  if (index < 1 || index > of || of > MAX_SHARDS)
    throw new UsageError(
      `--shard takes INDEX/COUNT, as in 3/8, with an index from 1 to the count and a count up to ${MAX_SHARDS}, not "${text}"`,
    );
  return { index, of };
}

/** @returns Unix epoch milliseconds. @throws UsageError */
export function parseStart(text: string): number {
  const isSeconds = /^\d{9,10}(?:\.\d{1,3})?$/.test(text);
  const isDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text);
  const ms = isSeconds ? Number(text) * 1_000 : isDate ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw new UsageError(
      `--start-at takes a date and time with a zone, as in 2026-01-31T12:00:00Z, or seconds since the epoch, not "${text}"`,
    );
  if (ms > Date.now() + DAY_MS)
    throw new UsageError(`--start-at ${text} is more than a day ahead`, { hint: "Start the shard on the day itself." });
  return Math.round(ms);
}

/** @throws UsageError when it is not the URL of a server that could provide the time. */
export function assertUrl(text: string): void {
  const problem = addressProblem(text);
  if (problem !== undefined) throw new UsageError(`--time-source ${problem}`);
}

/** @throws UsageError when the load cannot be split into this many shares. */
export function assertShared(workloads: readonly Workload[], of: number): void {
  const [workload, ...others] = workloads;
  if (workload === undefined || others.length > 0)
    throw new UsageError("shards share one workload, and several are named", {
      hint: "Load them one after the other.",
    });
  const { name, tier, engine, arrivals } = workload;
  if (tier !== undefined || arrivals === undefined)
    throw new UsageError(`${name} is a tier run, whose phases depend on each other's results: it has no shards`, {
      hint: "Share a workload with arrivals.",
    });
  if (engine !== "native")
    throw new UsageError(`--shard needs the native engine, and ${name} is sent by ${engine}`, {
      hint:
        engine === "k6" ? "k6 has --instances, and `gauntlet k6 export` for other machines." : "Add --engine native.",
    });
  const max = Math.min(boundOf(workload), planOf(arrivals).requests ?? Number.POSITIVE_INFINITY);
  if (of > max)
    throw new UsageError(
      `${name} cannot be shared among ${of}: it has ${max} requests, or requests in flight, at most`,
    );
}
