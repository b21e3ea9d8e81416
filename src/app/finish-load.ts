import { renderLoad } from "../../reports/index.ts";
import type { Redactor } from "../http-recorder/index.ts";
import type { Sample } from "../load/index.ts";
import { checksOfLoad, type JudgedLoad, type RunFolder } from "../record/index.ts";
import type { Target } from "../target/index.ts";
import { composeRecord } from "./compose-record.ts";
import { judgeSamples } from "./judge-samples.ts";
import { keepRecord } from "./keep-record.ts";
import { loadDocument } from "./load-document.ts";
import type { Outcome } from "./outcome.ts";
import { HLOG } from "./run-loads.ts";

interface Ended {
  readonly section: JudgedLoad;
  readonly hlog: string;
  readonly samples: readonly Sample[];
  readonly folder: RunFolder;
  readonly target: Target;
  readonly seed: number;
  readonly startedAt: Date;
  readonly redactor: Redactor;
  readonly interruptedBy: "SIGINT" | "SIGTERM" | undefined;
  /** Why the run ended before its end, other than by a signal. */
  readonly cutOff?: string | undefined;
}

/** Judges what was kept; writes record, histograms and reports. */
export function finishLoad(ended: Ended): Outcome {
  const { samples, target, folder } = ended;
  const section = judgeSamples(ended.section, samples, target);
  const record = composeRecord({
    command: "load",
    target,
    seed: ended.seed,
    startedAt: ended.startedAt,
    results: checksOfLoad(section),
    load: { runs: section.runs.map((run) => ({ ...run, hlog: HLOG })) },
    requests: section.runs.flatMap(({ phases }) => phases).reduce((sum, { sent }) => sum + sent, 0),
    interruptedBy: ended.interruptedBy,
    cutOff: ended.cutOff,
    redactor: ended.redactor,
  });
  const ioError = keepRecord(folder, record, () => folder.file(HLOG, ended.hlog));
  return {
    exitCode: record.verdict.exitCode,
    document: loadDocument(record, folder.path),
    text: (colors) => renderLoad(record, { colors, folder: folder.path }),
    ioError,
  };
}
