import { NO_QUANTILES } from "../../metrics/index.ts";
import type { LoadGenerator, LoadInstance } from "../../record/index.ts";
import { mergeGenerators } from "../measure/generator-health.ts";
import { type RanLoad, recordShare } from "../send/run-workload.ts";
import type { ShardFile, ShardHead } from "./shard-file.ts";
import { mergeShares } from "./stored-share.ts";

/** A shard as found in its folder. */
export interface FoundShard {
  readonly head: ShardHead;
  /** Absent if the shard was killed before writing it. */
  readonly file: ShardFile | undefined;
  /** Requests that a shard without a file had sent, according to its journal. */
  readonly sent: number;
}

/** If clocks differ by more than this, beyond their known uncertainty, a common start cannot be trusted, ms. */
const CLOCK_SPREAD_MS = 100;

/**
 * Merges the shards of one load: counts and whole histograms. Lists shards that are missing, were killed, started late, dropped
 * arrivals, or had an invalid generator or clock; the run then passes nothing.
 *
 * @param shards in order of their indices, at least one of them with a file; all of one schedule.
 */
export function mergeShards(shards: readonly FoundShard[], seed: number): RanLoad {
  const [first] = shards;
  const whole = shards.flatMap(({ head, file }) => (file === undefined ? [] : [{ head, file }]));
  const [model] = whole;
  if (first === undefined || model === undefined) throw new Error("no shard has written its results");
  const { workload, keys } = model.file;
  const merged = mergeShares(
    whole.map(({ head, file: { share } }) => ({
      ...share,
      stop: share.stop && { ...share.stop, why: `${nameOf(head)}: ${share.stop.why}` },
    })),
    { workload, seed, peaks: "separate" },
  );
  const generator = generatorOf(whole, merged.tally.lag.quantilesMs() ?? NO_QUANTILES);
  const instances = instancesOf(shards, whole);
  return recordShare(
    { ...merged, generator },
    {
      workload,
      keys,
      originUs: -workload.warmupS * 1_000_000,
      originMs: Date.parse(model.head.startAt),
      instances,
      missing: instances
        .filter(({ complete }) => !complete)
        .map(
          ({ name, ended, requests }) =>
            `${name} ${ended}: what it did not report is missing (${requests} requests sent)`,
        ),
    },
  );
}

type CompleteShard = Required<Pick<FoundShard, "head">> & { readonly file: ShardFile };

const nameOf = ({ index, of }: Pick<ShardHead, "index" | "of">): string => `shard ${index}/${of}`;

function generatorOf(whole: readonly CompleteShard[], scheduleLagMs: LoadGenerator["scheduleLagMs"]): LoadGenerator {
  const parts = whole.map(({ file }) => file.share.generator);
  const sum = (of: (one: LoadGenerator) => number) => parts.reduce((all, one) => all + of(one), 0);
  const merged = mergeGenerators(
    {
      valid: true,
      problems: [],
      scheduleLagMs,
      loopDelayMs: null,
      loopBusyShare: Math.max(...parts.map(({ loopBusyShare = 0 }) => loopBusyShare)),
      cpuS: sum(({ cpuS }) => cpuS),
      cpuShare: sum(({ cpuShare }) => cpuShare),
      peakRssBytes: sum(({ peakRssBytes }) => peakRssBytes),
      connectionWaits: 0,
      workers: whole.length,
      calibration: null,
    },
    parts,
    (index) => nameOf((whole[index] as CompleteShard).head),
  );
  const problems = whole.flatMap((one) => problemsOf(one, whole).map((problem) => `${nameOf(one.head)}: ${problem}`));
  return { ...merged, valid: problems.length === 0, problems };
}

/**
 * Why the generator of a shard was not valid: what the shard itself reports, and what only the comparison with the others shows.
 */
function problemsOf({ head, file }: CompleteShard, whole: readonly CompleteShard[]): string[] {
  const { dropped } = file.share.tally.total;
  return [
    ...file.share.generator.problems,
    ...(dropped === 0 ? [] : [`${dropped} of its arrivals were dropped`]),
    ...clockApart(
      head,
      whole.map((one) => one.head),
    ),
  ];
}

/** A clock is compared with those of the others: a wrong time source affects all of them equally. */
function clockApart({ clockOffsetMs, clockUncertaintyMs, ...head }: ShardHead, all: readonly ShardHead[]): string[] {
  if (clockOffsetMs === null) return [];
  const apart = all
    .flatMap((other) =>
      other.index === head.index || other.clockOffsetMs === null
        ? []
        : [Math.abs(clockOffsetMs - other.clockOffsetMs) - (other.clockUncertaintyMs ?? 0)],
    )
    .sort((a, b) => a - b);
  // The lower median: of three shards, the two that agree are right.
  const apartMs = (apart[Math.floor((apart.length - 1) / 2)] ?? 0) - (clockUncertaintyMs ?? 0);
  return apartMs <= CLOCK_SPREAD_MS
    ? []
    : [
        `its clock is at least ${apartMs.toFixed(0)} ms off from those of the other shards, limit ${CLOCK_SPREAD_MS} ms (${head.timeSource} is ${clockOffsetMs.toFixed(0)} ms ahead of it)`,
      ];
}

/** One per share of the schedule, whether or not there is a folder for it. */
function instancesOf(shards: readonly FoundShard[], whole: readonly CompleteShard[]): LoadInstance[] {
  const of = shards[0]?.head.of ?? 0;
  return Array.from({ length: of }, (_, position): LoadInstance => {
    const index = position + 1;
    const name = { name: nameOf({ index, of }), segment: `${index}/${of}` };
    const shard = shards.find(({ head }) => head.index === index);
    if (shard === undefined) {
      const ended = "was not merged: its folder was not given";
      return { ...name, requests: 0, complete: false, ended, clockOffsetMs: null, clockUncertaintyMs: null };
    }
    const { head, file, sent } = shard;
    const { clockOffsetMs, clockUncertaintyMs } = head;
    const clock = { clockOffsetMs, clockUncertaintyMs };
    if (file === undefined)
      return { ...name, requests: sent, complete: false, ended: "was killed before its end", ...clock };
    return {
      ...name,
      requests: file.share.tally.total.sent,
      complete: file.cut === "",
      ended: file.cut === "" ? "completed" : file.cut,
      ...clock,
      lateMs: file.lateMs,
      problems: problemsOf({ head, file }, whole),
    };
  });
}
