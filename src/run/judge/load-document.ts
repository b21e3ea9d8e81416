import {
  checkOfPhase,
  checkOfThresholds,
  checksOfRun,
  type LoadRun,
  type RunRecord,
  worstStatus,
} from "../../record/index.ts";

/** What `gauntlet load --json` prints. A single run has its phases at the top level; otherwise each run has its own. */
export function loadDocument(record: RunRecord, folder: string): object {
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
  const thresholds = checkOfThresholds(checks, run);
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
    ...(thresholds && { thresholds: { verdict: thresholds.status, findings: thresholds.findings } }),
    ...(watched && { watched }),
    generator,
    retryAfter: retryAfter === null ? null : { ...retryAfter, samples: retryAfter.samples.length },
  };
}
