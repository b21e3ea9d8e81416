import { InternalError, UsageError } from "../../core/index.ts";
import type { Target } from "../../target/index.ts";
import { ARRIVAL_KINDS, kindOf } from "../schedule/arrivals.ts";
import { drawRequest, isConstant } from "../schedule/draw-request.ts";
import { bodyOf, specOf } from "../send/prepared-requests.ts";
import { boundOf } from "../send/send-share.ts";
import type { Workload } from "../workload/workload.ts";
import { countOf, type LoadPlan, type PlannedRequest, type PlannedSpan, spanMs } from "./phase-plan.ts";

/** After the last arrival, compliant clients may still be waiting for a Retry-After. */
const UNTIL_MS = 130_000;
/** The kinds of arrivals that it can represent. */
const FIXED = Object.entries(ARRIVAL_KINDS).flatMap(([name, { fixed }]) => {
  if (typeof fixed === "string") return [];
  return fixed.evenly === undefined ? [name] : [`${name} (evenly)`];
});

/**
 * A workload as a schedule for another engine.
 *
 * @throws UsageError for a closed loop, a trace or random lengths: an open schedule cannot represent the first, and k6 has no
 * arrivals for the others.
 */
export function planWorkload(workload: Workload, target: Target): LoadPlan {
  const { name, mix, retryAfter, warmupS } = workload;
  assertRepeatable(workload, "k6");
  const remarks: string[] = [];
  const bound = boundOf(workload);
  const requests = mix.map((entry): PlannedRequest => {
    const { dialect, stream, weight } = entry;
    const drawn = drawRequest({ mix: [entry], seed: 0 }, 0);
    const usageRequested = dialect === "chat" && stream && entry.includeUsage === true;
    const body = JSON.stringify(bodyOf(specOf(target, drawn, 0)));
    return { dialect, stream, weight, body, ...(usageRequested ? { usageRequested } : {}) };
  });
  let atMs = 0;
  const groups = spansOf(workload, remarks).map(({ arrivals, gapMs }, index) => {
    const startMs = atMs;
    atMs += spanMs(arrivals) + gapMs;
    return {
      scenario: `load_${index}`,
      phase: name,
      role: "load",
      startMs,
      arrivals,
      requests,
      draw: "weights" as const,
      retryAfter,
      vus: Math.min(bound, Math.max(1, countOf(arrivals))),
      untilMs: retryAfter === "none" ? 120_000 : UNTIL_MS,
    };
  });
  if (warmupS > 0) remarks.push("the warm-up is skipped: the scripts measure from the first request");
  return { phases: [{ name, title: name, startMs: 0, endMs: atMs }], groups, remarks };
}

/**
 * @throws UsageError for random lengths, which an engine that repeats requests cannot send, and for objectives of single
 * requests, because objectives are evaluated while the requests are sent.
 */
export function assertRepeatable(
  { name, mix, objectives }: Pick<Workload, "name" | "mix" | "objectives">,
  engine: string,
): void {
  if (objectives !== undefined)
    throw new UsageError(`${engine} cannot count the goodput of ${name}`, {
      hint: "Omit objectives in the workload, or --engine: the native engine counts it.",
    });
  if (mix.every(isConstant)) return;
  throw new UsageError(`${engine} cannot send ${name}: the lengths of its requests are random`, {
    hint: "Set numbers for promptTokens, promptBytes and maxTokens, or omit --engine: the native engine draws them.",
  });
}

/** @throws UsageError for anything but an open loop whose requests are known in advance. */
function spansOf({ arrivals, name }: Workload, remarks: string[]): PlannedSpan[] {
  if (arrivals === undefined) throw new InternalError(`${name} is a tier run`);
  const { fixed } = kindOf(arrivals);
  if (typeof fixed === "string") {
    throw new UsageError(`${name} cannot be run by k6: it is ${fixed}`, {
      hint: `k6 runs tiers and open loops: ${FIXED.join(", ")}.`,
    });
  }
  if (fixed.evenly !== undefined) remarks.push(fixed.evenly);
  return fixed.spans(arrivals);
}
