import { requestBody } from "../../dialects/index.ts";
import type { Limits, Target } from "../../target/index.ts";
import { modelFor } from "../send/prepared-requests.ts";
import { echoPrompt } from "../tier/echo.ts";
import { TIER_PHASES } from "../tier/tier-phases.ts";
import type { LoadPlan, PlannedGroup, PlannedPhase, PlannedRequest } from "./phase-plan.ts";

/** Defaults of all groups. */
function groupOf(phase: string, role: string, startMs: number) {
  const scenario = `${phase}_${role}`;
  return { scenario, phase, role, startMs, draw: "turns", retryAfter: "none", untilMs: 120_000 } as const;
}

/** The phases of a tier run as a schedule: a machine that executes it cannot react to what happened before. */
export function planTier(limits: Limits, target: Target, thorough: boolean): LoadPlan {
  const facts = {
    limits,
    everyMs: 60_000 / limits.rpm,
    short: shortRequests(target),
    long: longRequests(target),
    thorough,
  };
  const phases: PlannedPhase[] = [];
  const groups: PlannedGroup[] = [];
  let atMs = 0;
  for (const { name, title, fixed } of TIER_PHASES) {
    const startMs = Math.max(atMs, fixed.notBeforeMs ?? 0);
    const planned = fixed.plan(facts);
    for (const { afterMs = 0, ...group } of planned.groups)
      groups.push({ ...groupOf(name, group.role, startMs + afterMs), vus: limits.inFlight + 32, ...group });
    atMs = startMs + planned.durationMs;
    phases.push({ name, title: fixed.title ?? title, startMs, endMs: atMs });
  }
  return { phases, groups, remarks: [] };
}

/** Each dialect that the target serves, streaming and non-streaming, each with a different text. */
function shortRequests(target: Target): PlannedRequest[] {
  return target.dialects.flatMap((dialect) =>
    [false, true].map((stream): PlannedRequest => {
      const model = modelFor(target, dialect, false);
      const request = { model, prompt: echoPrompt("@nonce@"), maxTokens: 256, ...(stream ? { stream } : {}) };
      return { dialect, stream, weight: 1, body: JSON.stringify(requestBody(dialect, request)) };
    }),
  );
}

function longRequests(target: Target): PlannedRequest[] {
  return target.dialects.map((dialect): PlannedRequest => {
    const model = modelFor(target, dialect, true);
    const request = { model, prompt: "Tell me a long story. @nonce@", stream: true, maxTokens: 1_024 };
    return { dialect, stream: true, weight: 1, body: JSON.stringify(requestBody(dialect, request)) };
  });
}
