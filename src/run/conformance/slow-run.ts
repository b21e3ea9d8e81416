import { type Response, type Traffic, undeclaredRpm } from "../../checks/index.ts";
import { formatNumber } from "../../core/index.ts";
import type { Target } from "../../target/index.ts";
import type { Advice } from "../preflight/index.ts";
import type { RunPlan } from "./plan-run.ts";

/** Slower replies make a run longer than planned, ms. */
const SLOW_REPLY_MS = 400;

/** Advice, given once, about a limit that slowed the run down and that the target file does not declare. */
export function limitAdvice({ limits }: Pick<Target, "limits">, responses: readonly Response[]): Advice | undefined {
  if (limits !== undefined) return undefined;
  const rpm = undeclaredRpm(responses);
  if (rpm === undefined) return undefined;
  return {
    cause: `the gateway limits this client to about ${rpm} requests/min, although the target file declares no limits`,
    next: `The run waited for it. Add the limits of the account or of the address: limits: { rpm: ${rpm}, inFlight: … }`,
  };
}

/** How long the checks take with a gateway that replies slowly, and what they use. */
export function slowNote(replyTimes: Traffic["replyTimes"], checks: RunPlan["checks"]): string | undefined {
  if (replyTimes.medianMs < SLOW_REPLY_MS) return undefined;
  const replyS = (replyTimes.medianMs / 1_000).toFixed(1);
  const tokens = [checks.inputTokens, checks.outputTokens].map((count) => formatNumber(count));
  return `this gateway takes ${replyS} s for a plain reply: the checks will take about ${replyTimes.durationS(checks)} s and use about ${tokens[0]} input and ${tokens[1]} output tokens`;
}
