import { formatCount, formatNumber } from "../../core/index.ts";
import type { Target } from "../../target/index.ts";
import { planOf } from "../schedule/arrivals.ts";
import { accountOf } from "../tier/account-of.ts";
import type { TierLength } from "../tier/tier-phase.ts";
import { phasesOf } from "../tier/tier-phases.ts";
import type { Workload } from "../workload/workload.ts";

/** What a load consists of, a line each: the phases of a tier, or the kinds of requests of a workload and its thresholds. */
export function outlineOf(workload: Workload, target: Target, length: TierLength): string[] {
  return workload.tier === undefined ? outlineOfWorkload(workload) : outlineOfTier(workload, target, length);
}

function outlineOfTier(workload: Workload, target: Target, length: TierLength): string[] {
  const { limits } = accountOf(workload, target);
  const phases = phasesOf(length).map(({ name, title, cost }) => {
    const { requests, expectedS } = cost(limits, length);
    return `  ${name}: ${title} (at most ${formatCount(requests, "request")}, about ${formatNumber(expectedS)} s)`;
  });
  return [
    `${workload.name}: ${formatNumber(limits.rpm)} requests/min, ${formatNumber(limits.inFlight)} in flight`,
    ...phases,
  ];
}

function outlineOfWorkload({ name, arrivals, mix, thresholds = [] }: Workload): string[] {
  const planned = arrivals && planOf(arrivals).requests;
  const weights = mix.reduce((sum, { weight }) => sum + weight, 0);
  const classes = mix.map(({ dialect, stream, model, weight }) => {
    const requests =
      planned === undefined
        ? `${formatNumber((weight / weights) * 100)} % of the requests`
        : `about ${formatCount(Math.round((planned * weight) / weights), "request")}`;
    return `  ${dialect} ${stream ? "streaming" : "non-streaming"}${model === undefined ? "" : `, model ${model}`}: ${requests}`;
  });
  return [name, ...classes, ...thresholds.map(({ threshold }) => `  threshold: ${threshold.text}`)];
}
