import type { Sizing } from "../load/index.ts";
import type { SizeOptions, Verified } from "./sizing-options.ts";

/** A sizing for the terminal. */
export function renderSizing(sizing: Sizing, verified: Verified | undefined, options: SizeOptions): string {
  const percent = (share: number) => `${(share * 100).toFixed(share > 0 && share < 0.01 ? 2 : 1)} %`;
  const tiers = sizing.tiers.map(({ tier, limits, denied, fits }) => {
    const shares = Object.entries(denied).map(([kind, { share }]) => `${kind} ${percent(share)}`);
    return `${tier.padEnd(9)} ${limits.rpm}/min, ${limits.inFlight} in flight: ${FITS[fits]}; denied: ${shares.join(", ")}`;
  });
  const lines = [
    `${sizing.requests} requests in ${Math.round(sizing.spanS)} s: ${Math.round(sizing.perMinute)} per minute, ${sizing.peakPerMinute} in the busiest`,
    `in flight ${sizing.meanInFlight.toFixed(1)} on average (Little's law ${sizing.littleInFlight.toFixed(1)}), ${sizing.peakInFlight} at most, at ${Math.round(sizing.meanDurationMs)} ms each`,
    `assumed: first token after ${options.ttftMs} ms, ${options.tokensPerS} tokens per second`,
    `allowed: ${sizing.allowedDeniedShare === 0 ? "no denials" : `up to ${percent(sizing.allowedDeniedShare)} of the requests denied`} (allow.deniedShare of the workload)`,
    ...tiers,
    `needs ${sizing.needs ?? "more than every tier: custom limits"}${sizing.needsAtAnyPace === sizing.needs ? "" : `; ${sizing.needsAtAnyPace ?? "more than every tier"} where requests have to come evenly`}`,
  ];
  if (verified !== undefined) {
    const [low, high] = verified.predicted;
    const verdict = verified.agrees ? "agrees" : "DISAGREES";
    lines.push(
      `verified on ${verified.account} (${verified.limits.rpm}/min, ${verified.limits.inFlight} in flight): ${percent(verified.deniedShare)} of ${verified.requests} denied, predicted with measured durations ${percent(low)} to ${percent(high)}: ${verified.undecided === null ? verdict : `not decided: ${verified.undecided}`}`,
      ...(verified.broken === null ? [] : [`FAILED: ${verified.broken}`]),
    );
  }
  return `${lines.join("\n")}\n`;
}

const FITS = { yes: "fits", no: "too small", depends: "depends on the limiter" } as const;
