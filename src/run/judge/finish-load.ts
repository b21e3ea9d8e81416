import { renderLoad } from "../../../reports/index.ts";
import { readingRules } from "../../checks/index.ts";
import type { Redactor } from "../../http/recorder/index.ts";
import { type Sample, SHARD_FILE } from "../../load/index.ts";
import type { Policy } from "../../policy/index.ts";
import { checksOfLoad, type JudgedLoad, type RunFolder, type RunRecord } from "../../record/index.ts";
import type { Target } from "../../target/index.ts";
import type { Interruption, Outcome } from "../control/index.ts";
import { HLOG } from "../loads/index.ts";
import { composeRecord, keepRecord } from "../record/index.ts";
import { judgeLoad } from "./judge-load.ts";
import { loadDocument } from "./load-document.ts";

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
  readonly policy?: Policy | undefined;
  /** For one of several processes: which share it sent, and the file that it hands over for merging. */
  readonly shard?: { readonly name: string; readonly file: string } | undefined;
}

/** With the headline of the verdict. */
type LoadOutcome = Outcome & Pick<RunRecord["verdict"], "headline">;

/** Judges what was recorded; writes record, histograms and reports. */
export async function finishLoad(ended: Ended): Promise<LoadOutcome> {
  const { samples, target, folder, shard } = ended;
  const section = await judgeLoad(ended.section, samples, readingRules(target), ended.interruption);
  const record = composeRecord({
    command: "load",
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
    document: loadDocument(record, folder.path),
    text: (colors) => renderLoad(record, { colors, folder: folder.path, isKept }),
    ioError,
  };
}
