import { basename, dirname, join } from "node:path";
import { mergeOutputs, missingShares, readOutput } from "../../engines/index.ts";
import { Redactor } from "../../http-recorder/index.ts";
import { histogramLog } from "../../metrics/index.ts";
import { RunFolder } from "../../record/index.ts";
import { allKeys } from "../../target/index.ts";
import { finishLoad } from "../finish-load.ts";
import { defaultFolder, openTarget } from "../open-target.ts";
import type { Outcome } from "../outcome.ts";
import type { OnProgress } from "../run-control.ts";
import { judgeMerged } from "./judge-merged.ts";
import { readStoredPlan } from "./stored-plan.ts";

export interface ImportOptions {
  readonly files: readonly string[];
  readonly plan?: string | undefined;
  readonly target?: string | undefined;
  readonly out?: string | undefined;
}

/** Makes one record of raw outputs from many machines. */
export async function importK6(options: ImportOptions, onProgress: OnProgress): Promise<Outcome> {
  const startedAt = new Date();
  const { files } = options;
  const {
    name: played,
    seed,
    plan,
    judge,
  } = readStoredPlan(options.plan ?? join(dirname(files[0] as string), "plan.json"));
  await using opened = await openTarget(
    // What was played on other machines was not played against a gateway that is started now.
    { target: options.target, mutation: [], variant: [], json: true },
    { signal: new AbortController().signal, onProgress },
  );
  const { target } = opened;
  const outputs = await Promise.all(
    files.map(async (file) => ({
      name: basename(file).replace(/\.(json|csv)(\.gz)?$/, ""),
      output: await readOutput(file),
      ended: "",
    })),
  );
  const merged = mergeOutputs({
    outputs,
    groups: plan.groups,
    keys: judge.keys,
    sameClock: files.length === 1,
  });
  const shares = missingShares(outputs.map(({ output }) => output.segment).filter((segment) => segment !== ""));
  const lost = shares.map((segment) => ({
    name: `share ${segment}`,
    segment,
    requests: 0,
    complete: false,
    ended: "was not imported",
    clockOffsetMs: null,
    clockUncertaintyMs: null,
  }));
  using folder = new RunFolder(options.out ?? defaultFolder(startedAt, target));
  folder.journal({ event: "started", command: "load", target: target.name, seed, load: [played] });
  const judged = judgeMerged(
    { ...judge, name: played, written: judge.workload },
    { plan, limits: judge.limits, keys: judge.keys },
    target,
    { ...merged, instances: [...merged.instances, ...lost] },
    {
      ran: [],
      interrupted: false,
    },
  );
  for (const { name, requests, clockOffsetMs, clockUncertaintyMs } of judged.run.instances ?? [])
    onProgress({
      kind: "note",
      text: `${name}: ${requests} requests${clockOffsetMs === null ? "" : `, gateway's clock ${clockOffsetMs >= 0 ? "+" : ""}${Math.round(clockOffsetMs)} ± ${Math.ceil(clockUncertaintyMs ?? 0)} ms`}`,
    });
  return finishLoad({
    section: { runs: [judged.run] },
    hlog: histogramLog(judged.histograms, merged.startedAtMs),
    samples: [],
    folder,
    target,
    seed,
    startedAt: new Date(merged.startedAtMs),
    redactor: new Redactor(allKeys(target).map((key) => ({ name: `key.${key.name}`, value: key.reveal() }))),
    interruptedBy: undefined,
  });
}
