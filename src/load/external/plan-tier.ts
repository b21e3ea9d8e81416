import { requestBody } from "../../dialects/index.ts";
import { WINDOW_OVER_MS } from "../../limits/index.ts";
import type { Limits, Target } from "../../target/index.ts";
import { modelFor } from "../send/prepared-requests.ts";
import { extraOf } from "../tier/at-concurrency-limit.ts";
import { SHARE } from "../tier/at-rate-limit.ts";
import { echoPrompt } from "../tier/echo.ts";
import { fleetOf } from "../tier/recovery.ts";
import { atTheLimitRequests, WARM_UPS } from "../tier/tier-cost.ts";
import type { LoadPlan, PlannedGroup, PlannedPhase, PlannedRequest } from "./phase-plan.ts";

const WARM_UP_MS = 400;
/** Delay after the wave: every response head has arrived, and streams of two seconds are still running. */
const EXTRA_AFTER_MS = 900;
/** All streams at the concurrency limit have ended after this time, with streams of up to ten seconds. */
const CONCURRENCY_MS = 12_000;
const PAUSE_MS = 1_000;
/** A one-minute window has passed, plus a margin. */
const FLEET_MS = 65_000;
/** Multiple of the rate limit that is sent. */
const EVEN = 2;
/** A schedule cannot check whether the limit was reached: it sends for this long, s. */
const OVER_S = { thorough: 120, brief: 92 };

type OwnOfGroup = Pick<PlannedGroup, "role" | "arrivals" | "requests"> &
  Partial<PlannedGroup> & {
    /** From the start of the phase, ms; default 0. */
    readonly afterMs?: number;
  };

/** Defaults of all groups. */
function groupOf(phase: string, role: string, startMs: number) {
  const scenario = `${phase}_${role}`;
  return { scenario, phase, role, startMs, draw: "turns", retryAfter: "none", untilMs: 120_000 } as const;
}

/** The phases of a tier run as a schedule: a machine that executes it cannot react to what happened before. */
export function planTier(limits: Limits, target: Target, thorough: boolean): LoadPlan {
  const { rpm, inFlight: limit } = limits;
  const everyMs = 60_000 / rpm;
  const short = shortRequests(target);
  const long = longRequests(target);
  const phases: PlannedPhase[] = [];
  const groups: PlannedGroup[] = [];
  let atMs = 0;
  const phase = (name: string, title: string, durationMs: number, own: readonly OwnOfGroup[]) => {
    for (const { afterMs = 0, ...group } of own)
      groups.push({ ...groupOf(name, group.role, atMs + afterMs), vus: limit + 32, ...group });
    phases.push({ name, title, startMs: atMs, endMs: atMs + durationMs });
    atMs += durationMs;
  };
  const atOnce = (count: number) => ({ kind: "at-once", count }) as const;
  const evenly = (count: number, everyMs: number) => ({ kind: "even", count, everyMs }) as const;
  phase("warm-up", "Single requests are served", WARM_UPS * WARM_UP_MS + PAUSE_MS, [
    { role: "warm-up", arrivals: evenly(WARM_UPS, WARM_UP_MS), requests: short, vus: 8 },
  ]);
  phase("at-concurrency-limit", "Exactly as many requests in flight as the limit allows", CONCURRENCY_MS, [
    { role: "wave", arrivals: atOnce(limit + extraOf(limit)), requests: long },
    { role: "extra", afterMs: EXTRA_AFTER_MS, arrivals: atOnce(8), requests: short },
  ]);
  phase("concurrency-release", "A request that ends frees capacity", CONCURRENCY_MS, [
    { role: "again", arrivals: atOnce(limit), requests: long },
  ]);
  const even = atTheLimitRequests(limits);
  // A schedule cannot wait for requests from before the run to expire: it starts when they no longer count.
  atMs = Math.max(atMs, WINDOW_OVER_MS);
  phase("at-rate-limit", "Just below the rate limit, nothing is denied", (even * everyMs) / SHARE + PAUSE_MS, [
    { role: "even", arrivals: evenly(even, everyMs / SHARE), requests: short },
  ]);
  const overMs = (thorough ? OVER_S.thorough : OVER_S.brief) * 1_000;
  phase("over-rate-limit", "Above the rate limit, the excess is denied and the limit holds", overMs + PAUSE_MS, [
    { role: "even", arrivals: evenly(Math.ceil((overMs / everyMs) * EVEN), everyMs / EVEN), requests: short },
  ]);
  const againMs = FLEET_MS + (limit * everyMs + 1_000);
  phase(
    "recovery",
    "Clients that honour Retry-After are served after an overload, and no capacity has leaked",
    againMs + CONCURRENCY_MS,
    [
      { role: "fleet", arrivals: atOnce(fleetOf(limit)), requests: short, retryAfter: "compliant", untilMs: FLEET_MS },
      { role: "again", afterMs: againMs, arrivals: atOnce(limit), requests: long },
    ],
  );
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
