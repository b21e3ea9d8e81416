import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { GauntletError, messageOf, UsageError } from "../../core/index.ts";
import { Redactor } from "../../http/recorder/index.ts";
import {
  type FoundShard,
  mergeShards,
  parseShardFile,
  type RanLoad,
  SHARD_FILE,
  shardHeadSchema,
} from "../../load/index.ts";
import { histogramLog } from "../../metrics/index.ts";
import { checksOfLoad, type LoadInstance, RunFolder, readJournal, readRun } from "../../record/index.ts";
import type { OnProgress, Outcome } from "../../run/control/index.ts";
import { type RecordHead, recordHeadSchema, runIdOf } from "../../run/journal/index.ts";
import { judgeLoad, keepLoad, type SampledExchange } from "../../run/judge/index.ts";
import { HLOG } from "../../run/loads/index.ts";
import { defaultFolder } from "../../run/open/index.ts";
import { composeFrom, isExchangeLine, readOrRecover, recoverLoad } from "../../run/record/index.ts";

export interface MergeOptions {
  /** Folders of shards. */
  readonly dirs: readonly string[];
  readonly out?: string | undefined;
}

/** A loaded shard folder. */
interface ShardFolder extends FoundShard {
  readonly dir: string;
  readonly run: RecordHead;
  readonly qualifiers: readonly string[];
}

/** Makes one record from the shards of a load. Sends nothing, and judges nothing that the shards did not. */
export async function merge({ dirs, out }: MergeOptions, onProgress: OnProgress): Promise<Outcome> {
  const shards = dirs.map(readShard).sort((a, b) => a.head.index - b.head.index);
  const first = assertOneLoad(shards);
  const { run, histograms } = mergedRun(shards, first);
  for (const instance of run.instances ?? []) onProgress({ kind: "note", text: instanceText(instance) });
  const head = headOf(first);
  using folder = new RunFolder(out ?? defaultFolder(new Date(), head.target));
  const qualifiers = [...first.qualifiers, `${shards.length} of ${first.head.of} shards`];
  folder.journal({
    event: "started",
    command: "merge",
    target: head.target.name,
    seed: head.seed,
    run: head,
    qualifiers,
  });
  const samples = shards.flatMap(({ dir }) => samplesOf(dir));
  for (const sample of samples) folder.exchange(sample);
  const section = await judgeLoad({ runs: [run] }, samples, head.target.reading);
  const record = composeFrom({
    head,
    qualifiers,
    durationMs: Math.round(run.durationS * 1_000),
    results: checksOfLoad(section),
    load: { runs: section.runs.map((one) => ({ ...one, hlog: HLOG })) },
    requests: run.phases.reduce((sum, { sent }) => sum + sent, 0),
    interruptedBy: undefined,
    // The shards redacted their own data.
    redactor: new Redactor([]),
  });
  return await keepLoad(record, folder, { [HLOG]: histogramLog(histograms, Date.parse(head.startedAt)) });
}

/** @throws UsageError when the folder is not a shard's, or its file cannot be read. */
function readShard(dir: string): ShardFolder {
  const lines = readJournal(dir);
  const started = lines.find(({ event }) => event === "started");
  const head = shardHeadSchema.safeParse(started?.["shard"]);
  const run = recordHeadSchema.safeParse(started?.["run"]);
  if (!head.success || !run.success)
    throw new UsageError(`${dir} is not the folder of a shard`, {
      hint: "`gauntlet load FILE --shard 1/3 --start-at TIME --out DIR` makes one.",
    });
  const qualifiers = started?.["qualifiers"];
  const recovered = recoverLoad(lines)?.runs.flatMap(({ phases }) => phases) ?? [];
  return {
    dir,
    head: head.data,
    run: run.data,
    qualifiers: Array.isArray(qualifiers) ? qualifiers.filter((one) => typeof one === "string") : [],
    file: readFile(dir),
    sent: recovered.reduce((sum, { sent }) => sum + sent, 0),
  };
}

/** The file of a shard; `undefined` when it was killed before writing it. */
function readFile(dir: string): FoundShard["file"] {
  const path = join(dir, SHARD_FILE);
  if (!existsSync(path)) return undefined;
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${messageOf(error)}`, { hint: COPY_AGAIN, cause: error });
  }
  const file = parseShardFile(json);
  if (typeof file === "string")
    throw new UsageError(`${path} is not what a shard of this version writes: ${file}`, { hint: COPY_AGAIN });
  return file;
}

const COPY_AGAIN = "Copy the folder again from where the shard ran.";

/** @returns one of the shards, for what they share. @throws UsageError naming two folders that do not match. */
function assertOneLoad(shards: readonly ShardFolder[]): ShardFolder {
  const [first] = shards;
  if (first === undefined) throw new UsageError("no folder of a shard is named");
  for (const [position, other] of shards.entries()) {
    const before = shards[position - 1];
    if (before !== undefined && before.head.index === other.head.index)
      throw new UsageError(`${before.dir} and ${other.dir} are both shard ${other.head.index}/${other.head.of}`, {
        hint: "Name each shard once.",
      });
    for (const [what, of] of COMMON) {
      const [mine, its] = [of(first), of(other)];
      if (mine === its) continue;
      throw new UsageError(`${first.dir} and ${other.dir} belong to different loads: ${what} ${mine} and ${its}`, {
        hint: "Name the folders of one load.",
      });
    }
  }
  if (shards.every(({ file }) => file === undefined))
    throw new UsageError(
      `no shard completed, so there is nothing to merge: ${shards.map(({ dir }) => dir).join(", ")}`,
    );
  return first;
}

/** What shards of one load share. */
const COMMON: readonly (readonly [what: string, of: (shard: ShardFolder) => string | number])[] = [
  ["number of shards", ({ head }) => head.of],
  ["workload", ({ head }) => head.workload],
  ["content of the workload (sha256)", ({ head }) => head.workloadSha256],
  ["start time", ({ head }) => head.startAt],
  ["seed", ({ run }) => run.seed],
  ["target", ({ run }) => run.target.baseUrl],
];

function mergedRun(shards: readonly ShardFolder[], { run }: ShardFolder): RanLoad {
  try {
    return mergeShards(shards, run.seed);
  } catch (error) {
    if (error instanceof GauntletError) throw error;
    throw new UsageError(`a histogram of the shards cannot be read: ${messageOf(error)}`, {
      hint: COPY_AGAIN,
      cause: error,
    });
  }
}

/** The head of the merged run: it began at the common start. */
function headOf({ head, run }: ShardFolder): RecordHead {
  const startedAt = new Date(head.startAt);
  return { ...run, startedAt: startedAt.toISOString(), runId: runIdOf(startedAt, run.seed, run.target) };
}

function samplesOf(dir: string): SampledExchange[] {
  return readRun(dir, readOrRecover).exchanges.filter(isSample);
}

function isSample(line: unknown): line is SampledExchange {
  return isExchangeLine(line) && "phase" in line && typeof line.phase === "string";
}

function instanceText({ name, requests, ended, lateMs, clockOffsetMs, clockUncertaintyMs }: LoadInstance): string {
  const clock =
    clockOffsetMs === null
      ? ""
      : `, clock of the time source ${clockOffsetMs >= 0 ? "+" : ""}${clockOffsetMs.toFixed(0)} ± ${Math.ceil(clockUncertaintyMs ?? 0)} ms`;
  return `${name}: ${requests} requests, ${ended}${lateMs === undefined ? "" : `, began ${lateMs.toFixed(0)} ms late`}${clock}`;
}
