import { UsageError } from "../../core/index.ts";
import { requestBody } from "../../dialects/index.ts";
import type { Target } from "../../target/index.ts";
import { modelFor, promptOf } from "../prepared-requests.ts";
import { boundOf } from "../send-share.ts";
import type { Workload } from "../workload.ts";
import { countOf, type LoadPlan, type PlannedArrivals, type PlannedRequest, spanMs } from "./phase-plan.ts";

/** Compliant clients may still wait for a Retry-After after the last arrival. */
const UNTIL_MS = 130_000;

/**
 * A workload as a schedule for another engine.
 *
 * @throws UsageError for a closed loop or a trace: an open schedule cannot hold the one, and k6 has no arrivals for the other.
 */
export function planWorkload(workload: Workload, target: Target): LoadPlan {
  const { name, mix, retryAfter, warmupS } = workload;
  const remarks: string[] = [];
  const bound = boundOf(workload);
  const requests = mix.map(({ dialect, stream, model, promptTokens, maxTokens, weight }): PlannedRequest => {
    const request = {
      model: model ?? modelFor(target, dialect, stream),
      prompt: promptOf(promptTokens),
      maxTokens,
      ...(stream ? { stream } : {}),
    };
    return { dialect, stream, weight, body: JSON.stringify(requestBody(dialect, request)) };
  });
  let atMs = 0;
  const groups = arrivalsOf(workload, remarks).map(({ arrivals, gapMs }, index) => {
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
  if (warmupS > 0) remarks.push("the warm-up is left out: the scripts measure from the first request");
  return { phases: [{ name, title: name, startMs: 0, endMs: atMs }], groups, remarks };
}

interface Planned {
  readonly arrivals: PlannedArrivals;
  /** Nothing arrives for so long after it, ms. */
  readonly gapMs: number;
}

function even(ratePerS: number, durationS: number): Planned {
  return {
    arrivals: { kind: "even", count: Math.max(1, Math.round(ratePerS * durationS)), everyMs: 1_000 / ratePerS },
    gapMs: 0,
  };
}

function arrivalsOf({ arrivals, name }: Workload, remarks: string[]): Planned[] {
  switch (arrivals?.kind) {
    case "constant":
      return [even(arrivals.ratePerS, arrivals.durationS)];
    case "poisson":
      remarks.push("Poisson arrivals are sent evenly: k6 has none");
      return [even(arrivals.ratePerS, arrivals.durationS)];
    case "ramp": {
      const { fromPerS, toPerS, durationS } = arrivals;
      return [{ arrivals: { kind: "ramp", fromPerS, toPerS, durationMs: durationS * 1_000 }, gapMs: 0 }];
    }
    case "steps":
      return arrivals.steps.map(({ ratePerS, durationS }) => even(ratePerS, durationS));
    case "burst": {
      const { size, everyS, durationS } = arrivals;
      return Array.from({ length: Math.max(1, Math.ceil(durationS / everyS - 1e-9)) }, () => ({
        arrivals: { kind: "at-once" as const, count: size },
        gapMs: everyS * 1_000,
      }));
    }
    default:
      throw new UsageError(
        `${name} cannot be played by k6: it is ${arrivals?.kind === "closed" ? "a closed loop" : "a trace"}`,
        {
          hint: "k6 plays tiers and open loops: constant, poisson (evenly), ramp, steps, burst.",
        },
      );
  }
}
