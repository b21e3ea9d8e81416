import { loadResults, reasonLines, renderLoad } from "../../../reports/index.ts";
import { readingRules } from "../../checks/index.ts";
import type { Redactor } from "../../http/recorder/index.ts";
import { type Sample, SHARD_FILE } from "../../load/index.ts";
import type { Policy } from "../../policy/index.ts";
import {
  checkOfEvents,
  checkOfPhase,
  checksOfLoad,
  checksOfRun,
  checksOfThresholds,
  type Finding,
  type JudgedLoad,
  type LoadRun,
  type RunFolder,
  type RunRecord,
  worstStatus,
} from "../../record/index.ts";
import type { Target } from "../../target/index.ts";
import type { Interruption, Outcome } from "../control/index.ts";
import { HLOG } from "../loads/index.ts";
import { composeRecord, keepRecord } from "../record/index.ts";
import { judgeLoad } from "./judge-load.ts";

interface Ended {
  readonly section: JudgedLoad;
  readonly hlog: string;
  readonly samples: readonly Sample[];
  readonly folder: RunFolder;
  readonly target: Target;
  readonly seed: number;
  readonly startedAt: Date;
  readonly redactor: Redactor;
  /** Present if the run sends and can be interrupted. */
  readonly interruption?: Interruption;
  /** Why the run ended early, other than by a signal. */
  readonly cutOff?: string | undefined;
  /** As in the head of a record. */
  readonly arguments?: readonly string[] | undefined;
  readonly policy?: Policy | undefined;
  /** For one of several processes: which share it sent, and the file that it hands over for merging. */
  readonly shard?: { readonly name: string; readonly file: string } | undefined;
}

type LoadOutcome = Outcome &
  Pick<RunRecord["verdict"], "headline"> & {
    /** The main reasons for the verdict; without any, the first result of the load. */
    readonly reasons: readonly string[];
    /** The loads, each with the findings of its thresholds. */
    readonly runs: readonly { readonly run: LoadRun; readonly findings: readonly Finding[] }[];
  };

/** Judges what was recorded; writes record, histograms and reports. */
export async function finishLoad(ended: Ended): Promise<LoadOutcome> {
  const { samples, target, folder, shard } = ended;
  const section = await judgeLoad(ended.section, samples, readingRules(target), ended.interruption);
  const record = composeRecord({
    command: "load",
    arguments: ended.arguments,
    target,
    seed: ended.seed,
    startedAt: ended.startedAt,
    results: checksOfLoad(section),
    load: { runs: section.runs.map((run) => ({ ...run, hlog: HLOG })) },
    requests: section.runs.flatMap(({ phases }) => phases).reduce((sum, { sent }) => sum + sent, 0),
    interruptedBy: ended.interruption?.by(),
    cutOff: ended.cutOff,
    redactor: ended.redactor,
    qualifiers: shard === undefined ? [] : [shard.name],
  });
  const { policy } = ended;
  const decided =
    policy === undefined ? record : await (await import("./policy-step.ts")).judgeByPolicy(record, { policy });
  const files = { [HLOG]: ended.hlog, ...(shard && { [SHARD_FILE]: shard.file }) };
  return await keepLoad(decided, folder, files, ended.interruption);
}

/** Writes the record of a load run, its files and reports. */
export async function keepLoad(
  found: RunRecord,
  folder: RunFolder,
  files: Readonly<Record<string, string>>,
  interruption?: Interruption,
): Promise<LoadOutcome> {
  const before = () => {
    for (const [name, text] of Object.entries(files)) folder.file(name, text);
  };
  const { record, isKept, ioError } = await keepRecord(folder, found, { interruption, before });
  return {
    exitCode: record.verdict.exitCode,
    headline: record.verdict.headline,
    reasons: record.verdict.reasons.length > 0 ? reasonLines(record.verdict) : loadResults(record).slice(0, 1),
    runs: (record.load?.runs ?? []).map((run) => ({
      run,
      findings: checksOfThresholds(record.checks, run).flatMap(({ findings }) => findings),
    })),
    document: loadDocument(record, folder.path),
    text: (colors) => renderLoad(record, { colors, folder: folder.path, isKept }),
    ioError,
  };
}

/** What `gauntlet load --json` prints. A single run has its phases at the top level; otherwise each run has its own. */
function loadDocument(record: RunRecord, folder: string): object {
  const runs = record.load?.runs ?? [];
  const [only] = runs;
  return {
    verdict: record.verdict.result,
    exitCode: record.verdict.exitCode,
    headline: record.verdict.headline,
    reasons: record.verdict.reasons,
    causes: record.causes,
    folder,
    ...(only !== undefined && runs.length === 1
      ? describe(record, only)
      : { runs: runs.map((run) => describe(record, run)) }),
  };
}

function describe({ checks }: RunRecord, run: LoadRun): object {
  const { name, kind, engine, limits, phases, generator, retryAfter, durationS, shard, instances, tokenizer, watched } =
    run;
  const thresholds = checksOfThresholds(checks, run);
  return {
    name,
    kind,
    engine,
    runVerdict: worstStatus(checksOfRun(checks, run).map(({ status }) => status)),
    limits,
    durationS,
    ...(shard && { shard }),
    ...(instances && { instances }),
    ...(tokenizer && { tokenizer }),
    phases: phases.map(({ series: _series, heat: _heat, ...phase }) => {
      const check = checkOfPhase(checks, run, phase);
      return { ...phase, verdict: check?.status, message: check?.message, findings: check?.findings ?? [] };
    }),
    ...(thresholds.length > 0 && {
      thresholds: {
        verdict: worstStatus(thresholds.map(({ status }) => status)),
        findings: thresholds.flatMap(({ findings }) => findings),
      },
    }),
    ...(run.events && { events: run.events, expectations: checkOfEvents(checks, run)?.findings ?? [] }),
    ...(watched && { watched }),
    generator,
    retryAfter: retryAfter === null ? null : { ...retryAfter, samples: retryAfter.samples.length },
  };
}
