import type { Options, Scenario } from "k6/options";
import type { Group, Plan } from "./plan.ts";

/** Streams may run this long after the last arrival. */
const GRACEFUL = "120s";

const ms = (value: number): string => `${Math.round(value)}ms`;

/** The options of a plan: one scenario per group. */
export function optionsOf(plan: Plan): Options {
  return {
    scenarios: Object.fromEntries(plan.groups.map((group) => [group.scenario, scenarioOf(group)])),
    thresholds: Object.fromEntries(Object.entries(plan.thresholds).map(([name, all]) => [name, [...all]])),
    // Phase and role are tags of the scenario; tagging every request with address and status would only multiply the series.
    systemTags: ["scenario"],
    maxRedirects: 0,
    setupTimeout: "10s",
  };
}

function scenarioOf(group: Group): Scenario {
  const { arrivals, vus } = group;
  const common = {
    startTime: ms(group.startMs),
    tags: { phase: group.phase, role: group.role },
    gracefulStop: GRACEFUL,
  };
  if (arrivals.kind === "at-once")
    return {
      ...common,
      executor: "per-vu-iterations",
      vus: arrivals.count,
      iterations: 1,
      maxDuration: ms(Math.max(1_000, group.untilMs)),
    };
  if (arrivals.kind === "ramp")
    return {
      ...common,
      executor: "ramping-arrival-rate",
      startRate: Math.round(arrivals.fromPerS * 60),
      timeUnit: "60s",
      stages: [{ target: Math.round(arrivals.toPerS * 60), duration: ms(arrivals.durationMs) }],
      preAllocatedVUs: vus,
      maxVUs: vus,
    };
  // The whole group is the time unit, so that its count is exact. It ends half an interval early, because k6 may or may not send
  // what is due at the very end. k6 requires at least a second; arrivals beyond the plan are not sent.
  return {
    ...common,
    executor: "constant-arrival-rate",
    rate: arrivals.count,
    timeUnit: `${Math.round(arrivals.count * arrivals.everyMs * 1_000)}us`,
    duration: `${Math.max(1_000_000, Math.round((arrivals.count - 0.5) * arrivals.everyMs * 1_000))}us`,
    preAllocatedVUs: vus,
    maxVUs: vus,
  };
}
