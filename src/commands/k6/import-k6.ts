import { basename, dirname, join } from "node:path";
import { mergeOutputs, missingShares, readOutput } from "../../engines/index.ts";
import { Redactor } from "../../http/recorder/index.ts";
import { histogramLog } from "../../metrics/index.ts";
import { type LoadInstance, RunFolder } from "../../record/index.ts";
import type { OnProgress, Outcome } from "../../run/control/index.ts";
import { finishLoad } from "../../run/judge/index.ts";
import { judgeMerged } from "../../run/loads/index.ts";
import { defaultFolder, openTarget } from "../../run/open/index.ts";
import { allKeys } from "../../target/index.ts";
import { readStoredPlan } from "./stored-plan.ts";

export interface ImportOptions {
  readonly files: readonly string[];
  readonly plan?: string | undefined;
  readonly target?: string | undefined;
  readonly out?: string | undefined;
}

/** Makes one record from the raw outputs of several machines. */
export async function importK6(options: ImportOptions, onProgress: OnProgress): Promise<Outcome> {
  const startedAt = new Date();
  const { files } = options;
  const stored = readStoredPlan(options.plan ?? join(dirname(files[0] as string), "plan.json"));
  const { name, seed, plan, judge } = stored;
  await using opened = await openTarget(
    // What was played on other machines was not played against a gateway that is started now.
    { target: options.target, json: true },
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
  const merged = mergeOutputs({ outputs, groups: plan.groups, keys: judge.keys, sameClock: files.length === 1 });
  const lost = lostInstances(outputs.map(({ output }) => output.segment));
  using folder = new RunFolder(options.out ?? defaultFolder(startedAt, target));
  folder.journal({ event: "started", command: "load", target: target.name, seed, load: [name] });
  const judged = judgeMerged(
    { ...judge, name, written: judge.workload },
    { plan, limits: judge.limits, keys: judge.keys },
    target,
    { ...merged, instances: [...merged.instances, ...lost] },
    { ran: [], interrupted: false },
  );
  for (const instance of judged.run.instances ?? []) onProgress({ kind: "note", text: instanceText(instance) });
  return await finishLoad({
    section: { runs: [judged.run] },
    hlog: histogramLog(judged.histograms, merged.startedAtMs),
    samples: [],
    folder,
    target,
    seed,
    startedAt: new Date(merged.startedAtMs),
    redactor: new Redactor(allKeys(target).map((key) => key.secret())),
  });
}

/** An instance for each share of the load without an output. */
function lostInstances(segments: readonly string[]): LoadInstance[] {
  return missingShares(segments.filter((segment) => segment !== "")).map((segment) => ({
    name: `share ${segment}`,
    segment,
    requests: 0,
    complete: false,
    ended: "was not imported",
    clockOffsetMs: null,
    clockUncertaintyMs: null,
  }));
}

function instanceText({ name, requests, clockOffsetMs, clockUncertaintyMs }: LoadInstance): string {
  if (clockOffsetMs === null) return `${name}: ${requests} requests`;
  const clock = `${clockOffsetMs >= 0 ? "+" : ""}${Math.round(clockOffsetMs)} ± ${Math.ceil(clockUncertaintyMs ?? 0)} ms`;
  return `${name}: ${requests} requests, gateway's clock ${clock}`;
}
