import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { GauntletError, InternalError, messageOf } from "../../core/index.ts";
import { mergeOutputs, type ProgressOfInstances, readOutput, runInstances } from "../../engines/index.ts";
import type { LoadsContext } from "../../load/index.ts";
import {
  announceStop,
  circuitRule,
  costOf,
  endIfCrossed,
  guardOver,
  type RanLoad,
  type Workload,
} from "../../load/index.ts";
import { judgeMerged } from "./judge-merged.ts";
import { type K6Plan, KEY_VARIABLES, planForK6, scriptFolder } from "./plan-for-k6.ts";

/** Plays a workload with k6 on this machine and judges its samples like our own. */
export async function runK6(workload: Workload, context: LoadsContext): Promise<RanLoad> {
  const { target, seed, stop, abort, redactor, onProgress, onNotice, onPhase, k6 } = context;
  if (k6 === undefined) throw new InternalError("k6 was not looked for");
  const { plan, file, limits, keys } = planForK6(workload, target, context.length === "thorough", seed);
  const folder = resolve(k6.folder, "k6", workload.name);
  mkdirSync(folder, { recursive: true });
  const planPath = join(folder, "plan.json");
  writeFileSync(planPath, `${JSON.stringify(file.content, null, 2)}\n`);
  for (const remark of plan.remarks) onNotice(`${workload.name}: ${remark}`);
  const report = progressReporter(workload.name, plan.phases, onProgress);
  const share = context.budget.reserve(costOf(workload, target, context.length).requests);
  const guard = guardOver(share, { outputTokens: undefined, circuit: circuitRule(workload, target) });
  announceStop(workload.name, { ...context, guard });
  const ran = await runInstances({
    k6: k6.path,
    script: join(scriptFolder(), "gauntlet.ts"),
    planPath,
    folder,
    instances: k6.instances,
    environment: {
      ...file.secrets,
      ...Object.fromEntries(keys.map((key, index) => [KEY_VARIABLES[index] as string, key.reveal()])),
    },
    stop: AbortSignal.any([stop, guard.signal]),
    abort,
    onProgress: (now) => {
      guard.noteTotals(now);
      endIfCrossed(workload.thresholds, guard, now);
      report(now);
    },
  }).catch((error: unknown) => {
    // The output of k6 may repeat its input.
    if (error instanceof GauntletError)
      throw new InternalError(redactor.redact(messageOf(error)).text, { cause: error });
    throw error;
  });
  context.budget.spend(share, { requests: guard.sent, outputTokens: 0 });
  const outputs = await Promise.all(
    ran.map(async ({ name, output, ended, segment }) => {
      const read = await readOutput(output);
      return { name, ended: redactor.redact(ended).text, output: { ...read, segment } };
    }),
  );
  const names = keys.map(({ name }) => name);
  const merged = mergeOutputs({ outputs, groups: plan.groups, keys: names, sameClock: true });
  const judged = judgeMerged(workload, { plan, limits, keys: names }, target, merged, {
    ran,
    interrupted: stop.aborted,
    stop: guard.stop,
  });
  for (const phase of judged.run.phases) onPhase(workload.name, phase);
  return judged;
}

/** Turns the totals of k6 into progress increments. */
function progressReporter(run: string, phases: K6Plan["plan"]["phases"], onProgress: LoadsContext["onProgress"]) {
  const totalS = Math.max(...phases.map(({ endMs }) => endMs)) / 1_000;
  let before = { elapsedS: 0, sent: 0, admitted: 0 };
  return (now: ProgressOfInstances) => {
    const { elapsedS, inFlight, sent, admitted, denied, failed } = now;
    const overS = Math.max(0.001, elapsedS - before.elapsedS);
    const phase = phases.findLast(({ startMs }) => startMs <= elapsedS * 1_000)?.name ?? run;
    const sentPerS = (sent - before.sent) / overS;
    const admittedPerS = (admitted - before.admitted) / overS;
    // Without latencies: quantiles of several instances cannot be merged.
    onProgress({ run, phase, elapsedS, totalS, inFlight, sentPerS, admittedPerS, denied, failed });
    before = now;
  };
}
