import { UsageError } from "../../../core/index.ts";
import type { Dialect } from "../../../dialects/index.ts";
import { type Limits, TIER_LIMITS } from "../../../target/index.ts";
import { type Arrivals, kindOf, scheduleOf } from "../../schedule/arrivals.ts";
import { drawRequest } from "../../schedule/draw-request.ts";
import type { Workload } from "../../workload/workload.ts";
import {
  type Applied,
  applyLimits,
  type PlannedRequest,
  peakOf,
  SIMULATED_KINDS,
  type SimulatedKind,
} from "./apply-limits.ts";

/** Duration of a request of a class, ms. */
export type DurationOf = (request: {
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly maxTokens: number;
}) => number;

export interface TierFit {
  readonly tier: string;
  readonly limits: Limits;
  /** Share of denied requests, by kind of limiter. */
  readonly denied: Readonly<Record<SimulatedKind, { readonly share: number } & Applied>>;
  /**
   * Whether denials stay within what the workload allows, whatever the limiter; `depends` if only some kinds of limiter admit it.
   */
  readonly fits: "yes" | "no" | "depends";
}

export interface Sizing {
  readonly requests: number;
  readonly spanS: number;
  readonly perMinute: number;
  /** Maximum number of arrivals in any sixty seconds. */
  readonly peakPerMinute: number;
  readonly meanDurationMs: number;
  /** Little's law: arrivals per second times the duration of each. */
  readonly littleInFlight: number;
  /** Simulated without limits. */
  readonly meanInFlight: number;
  readonly peakInFlight: number;
  readonly tiers: readonly TierFit[];
  /** Maximum share of denials: what the workload allows. */
  readonly allowedDeniedShare: number;
  /** Smallest tier that admits the workload with a limiter that counts per minute; `null` if none does. */
  readonly needs: string | null;
  /** Smallest tier that admits it with any limiter, including even spacing; `null` if none does. */
  readonly needsAtAnyPace: string | null;
  /** Smallest tier that denies nothing with a limiter that counts per minute; `null` if none does. */
  readonly needsWithoutDenials: string | null;
  /**
   * If the workload is shorter than the minute in which limits count: its average rate if sustained, and the smallest tier that allows it;
   * `null` as the tier if none does.
   */
  readonly continuous?: { readonly perMinute: number; readonly needs: string | null };
}

/** Limits count requests in windows of this length, s. */
const WINDOW_S = 60;

/** Maximum number of simulated arrivals. */
const MAX_ARRIVALS = 5_000_000;

/**
 * Finds the tier that a workload needs, by applying the limits of each in simulated time.
 *
 * @param more limits in addition to the tiers, e.g. the account's own, by name.
 * @throws UsageError for a tier run: it is designed for its tier.
 */
export function sizeWorkload(
  workload: Workload,
  durationOf: DurationOf,
  { seed, more = {} }: { readonly seed: number; readonly more?: Readonly<Record<string, Limits>> },
): Sizing {
  const planned = plannedBy(workload, durationOf, seed);
  const last = planned.at(-1)?.atUs ?? 0;
  const spanS = Math.max(1, spanOf(workload.arrivals, last / 1_000_000));
  const totalUs = planned.reduce((sum, { durationUs }) => sum + durationUs, 0);
  const meanDurationMs = totalUs / planned.length / 1_000;
  const tiers = Object.entries({ ...TIER_LIMITS, ...more }).map(([tier, limits]) =>
    fitOf(tier, limits, planned, workload),
  );
  const perMinute = (planned.length / spanS) * 60;
  const littleInFlight = (planned.length / spanS) * (meanDurationMs / 1_000);
  const hasRoom = ({ limits: { rpm, inFlight } }: TierFit) => rpm >= perMinute && inFlight >= littleInFlight;
  return {
    requests: planned.length,
    spanS,
    perMinute,
    peakPerMinute: peakPerMinute(planned),
    meanDurationMs,
    littleInFlight,
    meanInFlight: totalUs / Math.max(spanS * 1_000_000, ...endsOf(planned)),
    peakInFlight: peakOf(planned),
    tiers,
    allowedDeniedShare: workload.allow.deniedShare,
    needs: tiers.find(({ denied }) => byTheMinute(denied) <= workload.allow.deniedShare)?.tier ?? null,
    needsAtAnyPace: tiers.find(({ fits }) => fits === "yes")?.tier ?? null,
    needsWithoutDenials: tiers.find(({ denied }) => byTheMinute(denied) === 0)?.tier ?? null,
    ...(spanS < WINDOW_S ? { continuous: { perMinute, needs: tiers.find(hasRoom)?.tier ?? null } } : {}),
  };
}

/** Share of denials with the strictest kind of limiter. */
export const mostDenied = ({ denied }: TierFit): number => Math.max(...Object.values(denied).map(({ share }) => share));

/** What one-minute windows deny, however they count. */
function byTheMinute(denied: TierFit["denied"]): number {
  return Math.max(denied["sliding window"].share, denied["fixed window"].share);
}

function fitOf(tier: string, limits: Limits, planned: readonly PlannedRequest[], { allow }: Workload): TierFit {
  const entries = SIMULATED_KINDS.map((kind) => {
    const applied = applyLimits(planned, limits, kind);
    return [
      kind,
      { ...applied, share: (applied.deniedForRate + applied.deniedForConcurrency) / applied.requests },
    ] as const;
  });
  const met = entries.filter(([, { share }]) => share <= allow.deniedShare).length;
  const fits = met === entries.length ? "yes" : met === 0 ? "no" : "depends";
  return { tier, limits, denied: Object.fromEntries(entries) as unknown as TierFit["denied"], fits };
}

function plannedBy(workload: Workload, durationOf: DurationOf, seed: number): PlannedRequest[] {
  const { arrivals, mix } = workload;
  if (arrivals === undefined) {
    throw new UsageError(`${workload.name} is a tier, and \`size\` works out which tier a workload needs`, {
      hint: "Pass a workload file, or a trace.",
    });
  }
  const kind = kindOf(arrivals);
  if (kind.notSimulated !== undefined) {
    throw new UsageError(`${workload.name} ${kind.notSimulated}`, {
      hint: "Describe the requests by a rate, or replay a trace.",
    });
  }
  const entries = kind.trace?.entries(arrivals);
  let drawn = 0;
  const durationUs = () => durationOf(drawRequest({ mix, entries, seed }, drawn++)) * 1_000;
  if (kind.simulate !== undefined) return kind.simulate(arrivals, durationUs, MAX_ARRIVALS);
  const schedule = scheduleOf(arrivals, seed);
  const planned: PlannedRequest[] = [];
  for (let atUs = schedule.next(); atUs !== undefined && planned.length < MAX_ARRIVALS; atUs = schedule.next()) {
    planned.push({ atUs, durationUs: durationUs() });
  }
  return planned;
}

function spanOf(arrivals: Arrivals | undefined, lastS: number): number {
  const planned = arrivals !== undefined && "durationS" in arrivals ? (arrivals.durationS ?? 0) : 0;
  return Math.max(planned, lastS);
}

function endsOf(planned: readonly PlannedRequest[]): number[] {
  return [planned.reduce((latest, { atUs, durationUs }) => Math.max(latest, atUs + durationUs), 0)];
}

function peakPerMinute(planned: readonly PlannedRequest[]): number {
  let from = 0;
  let max = 0;
  planned.forEach(({ atUs }, index) => {
    while ((planned[from] as PlannedRequest).atUs <= atUs - 60_000_000) from++;
    max = Math.max(max, index - from + 1);
  });
  return max;
}
