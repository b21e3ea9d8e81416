import { setImmediate } from "node:timers/promises";
import { median, unreachableError } from "../../core/index.ts";
import { nowUs } from "../../http/load-client/index.ts";
import { finding, type Observation } from "../../judging/index.ts";
import {
  isAdmitted,
  isConcurrencyDenial,
  isRateDenial,
  mayCountDenied,
  type RetryAfterWait,
  WINDOW_OVER_MS,
  waitsOf,
} from "../../limits/index.ts";
import type { Finding } from "../../record/index.ts";
import type { Limits } from "../../target/index.ts";
import { judgeWaits, RATE_WAITS } from "../analysis/judge-waits.ts";
import { GeneratorHealth, TIER_BOUNDS } from "../measure/generator-health.ts";
import { runRecord } from "../measure/run-record.ts";
import type { LoadContext, RanLoad } from "../send/run-workload.ts";
import {
  AT_CONCURRENCY_LIMIT,
  fillConcurrency,
  judgeConcurrencyLimit,
  judgeConcurrencyRelease,
  releaseConcurrency,
  SETTLE_MS,
} from "./at-concurrency-limit.ts";
import { atTheLimit, judgeAtTheLimit, SHARE } from "./at-rate-limit.ts";
import { judgeDenials } from "./judge/judge-denials.ts";
import { judgeGrowth, judgeOutliers, judgeSlowdown, type LatencyJudged } from "./judge/judge-latency.ts";
import { judgeService, spreadOf } from "./judge/judge-service.ts";
import { OwnStalls } from "./judge/own-stalls.ts";
import { retryFigures } from "./judge/retry-figures.ts";
import { judgeOverTheLimit, OVER_SECONDS, OVER_THE_LIMIT, overTheLimit } from "./over-rate-limit.ts";
import { questionsOf } from "./questions.ts";
import { judgeRecovery, type RecoveryScript, recover, recoverySeconds } from "./recovery.ts";
import { type PhaseJudge, TierBench, type TierRequest } from "./tier-bench.ts";
import { atTheLimitRequests, QUICK_EVEN, type TierLength, tierCost, WARM_UPS } from "./tier-cost.ts";

export interface TierOptions {
  readonly name: string;
  readonly limits: Limits;
  /** The workload as written, for the record. */
  readonly written: unknown;
  readonly length: TierLength;
}

/** Findings that need the whole run. */
export const RARE: readonly string[] = ["latency.stalls", "service.failed", "service.cut"];
/** Maximum Retry-After that is waited for at the start of the overload, ms. */
const MAX_WAIT_MS = { thorough: WINDOW_OVER_MS, brief: 40_000 };

/** Judges an account by its limits, phase by phase. */
export async function runTier({ name, limits, written, length }: TierOptions, context: LoadContext): Promise<RanLoad> {
  using health = new GeneratorHealth();
  using own = new OwnStalls();
  const reserved = context.budget.reserve(tierCost(limits, length).requests);
  await using bench = new TierBench(name, limits, reserved, context);
  const waits: TierWaits = { rate: [], concurrency: [] };
  const recovery: RecoveryScript = { waits: [], fleet: undefined, fleetStartUs: 0, fleetEndUs: 0 };
  context.onGauge?.(() => bench.sender.inFlight);
  await bench.sender.open(limits.inFlight + 32);
  const phases = phasesOf({ bench, own, waits, recovery, length, seed: context.seed });
  try {
    for (const [at, phase] of phases.entries()) {
      if (bench.stopped) break;
      const laterS = phases.slice(at + 1).reduce((sum, { totalS }) => sum + totalS, 0);
      await bench.phase({ ...phase, laterS, questions: questionsOf(phase.name, true) }, phase.act, phase.judge);
    }
  } finally {
    const { sent: requests, outputTokens } = bench.guard;
    context.budget.spend(reserved, { requests, outputTokens });
  }
  await bench.sampler.settle();
  const retryAfter = retryFigures(bench.observations, [...waits.rate, ...waits.concurrency], recovery, bench.originUs);
  await setImmediate();
  const generator = health.close(
    bench.lag,
    { connectionWaits: bench.sender.waits, workers: 0, calibration: context.calibration },
    TIER_BOUNDS,
  );
  const { stop } = bench.guard;
  const run = runRecord({
    name,
    kind: "tier",
    length,
    engine: "native",
    protocol: bench.sender.protocol,
    phases: bench.phases,
    stopped: stop !== undefined ? [`stopped early: ${stop.why}`] : bench.stopped ? ["interrupted"] : [],
    limits,
    keys: context.keys.map((key) => key.name),
    workload: written,
    startedAtMs: bench.startedAt.getTime(),
    durationS: (nowUs() - bench.originUs) / 1_000_000,
    retryAfter,
    generator,
  });
  return { run, histograms: bench.histograms };
}

interface TierWaits {
  readonly rate: RetryAfterWait[];
  readonly concurrency: RetryAfterWait[];
}

interface TierParts {
  readonly bench: TierBench;
  readonly own: OwnStalls;
  readonly waits: TierWaits;
  readonly recovery: RecoveryScript;
  readonly length: TierLength;
  readonly seed: number;
}

interface TierPhase {
  readonly name: string;
  readonly title: string;
  readonly totalS: number;
  readonly act: () => Promise<void>;
  readonly judge: PhaseJudge;
}

/** The phases of a tier run, in order. */
function phasesOf(parts: TierParts): TierPhase[] {
  const { bench, own, waits, length } = parts;
  const { limits } = bench;
  const even = length === "quick" ? QUICK_EVEN : atTheLimitRequests(limits);
  const common = commonJudge(parts);
  const concurrency = { limit: limits.inFlight, still: own.still };
  const phases: TierPhase[] = [
    {
      name: "warm-up",
      title: "Single requests are served",
      totalS: 4,
      act: () => warmUp(bench),
      *judge(observations) {
        yield refusedKinds(bench, observations);
        yield* common(observations);
      },
    },
    {
      name: AT_CONCURRENCY_LIMIT,
      title: "Exactly as many requests in flight as the limit allows",
      totalS: 8,
      act: () => fillConcurrency(bench, waits.concurrency),
      *judge(observations) {
        yield judgeConcurrencyLimit(observations, { ...concurrency, all: bench.observations });
        yield judgeWaits(waits.concurrency, {
          name: "retry-after.concurrency-sufficient",
          title: "A request after the Retry-After wait of a concurrency denial is admitted",
          requirement: "LIMIT-CONC-6",
          denials: observations.filter(isConcurrencyDenial),
        });
        yield* common(observations);
      },
    },
    {
      name: "concurrency-release",
      title: "A request that ends frees capacity, even while other requests run",
      totalS: 6,
      act: () => releaseConcurrency(bench),
      *judge(observations) {
        yield judgeConcurrencyRelease(observations, { ...concurrency, all: bench.observations });
        yield* common(observations);
      },
    },
    {
      name: "at-rate-limit",
      title: "Just below the rate limit, nothing is denied",
      totalS: even / (bench.ratePerS * SHARE),
      act: () => atTheLimit(bench, even),
      *judge(observations) {
        yield judgeAtTheLimit(observations, bench.observations, limits);
        yield judgeGrowth(observations);
        yield judgeSlowdown(observations, latencyOf(parts));
        yield judgeOutliers(observations, latencyOf(parts));
        yield* common(observations);
      },
    },
  ];
  return length === "quick" ? phases : [...phases, ...overloadPhases(parts)];
}

/** What a quick run omits: the overload and everything after it. */
function overloadPhases({ bench, own, waits, recovery, seed, length }: TierParts): TierPhase[] {
  const { limits } = bench;
  const common = commonJudge({ bench, own });
  const longestWaitMs = MAX_WAIT_MS[length === "thorough" ? "thorough" : "brief"];
  return [
    {
      name: OVER_THE_LIMIT,
      title: "Above the rate limit, the excess is denied and the limit holds",
      totalS: OVER_SECONDS,
      act: () => overTheLimit(bench, waits.rate, longestWaitMs),
      *judge(observations) {
        yield judgeOverTheLimit(observations, limits, true);
        yield judgeSlowdown(observations, latencyOf({ bench, own }));
        yield* common(observations);
      },
    },
    {
      name: "recovery",
      title: "Clients that honour Retry-After are served after an overload, and no capacity has leaked",
      totalS: recoverySeconds(limits),
      act: () => recover(bench, recovery, seed),
      *judge(observations) {
        const loaded = bench.observations.filter(({ phase }) => phase === OVER_THE_LIMIT);
        const deniedCount = mayCountDenied(loaded, limits.rpm);
        recovery.waits = waitsOf(recovery.fleet?.attempts ?? [], bench.observations, { deniedCount });
        waits.rate.push(...recovery.waits);
        yield [];
        yield judgeRecovery(observations, bench.observations, recovery, limits.inFlight);
        yield judgeWaits(waits.rate, { ...RATE_WAITS, denials: bench.observations.filter(isRateDenial) });
        for (const some of common(observations)) yield some.filter(({ name }) => !RARE.includes(name));
        // What is rare in each phase: the last one judges it over the whole run.
        yield judgeService(bench.observations, bench.long, own).filter(({ name }) => RARE.includes(name));
        yield judgeSlowdown(observations, latencyOf({ bench, own }));
        yield judgeOutliers(bench.observations, latencyOf({ bench, own }));
      },
    },
  ];
}

/** What latencies are compared with, and which delays were ours. */
function latencyOf({ bench, own }: Pick<TierParts, "bench" | "own">): LatencyJudged {
  return { all: bench.observations, heldUp: own, originUs: bench.originUs };
}

/** The judge for all phases. */
function commonJudge({ bench, own }: Pick<TierParts, "bench" | "own">): PhaseJudge {
  return function* (observations) {
    // A kind that is rejected as such was judged once, in the warm-up.
    yield judgeDenials(
      observations.filter((one) => !bench.refuses(one)),
      bench.target,
    );
    yield judgeService(observations, bench.long, own);
  };
}

/** @throws UnreachableError if the gateway does not respond at all. */
async function warmUp(bench: TierBench): Promise<void> {
  const kinds = bench.kinds("echo");
  for (let index = 0; index < WARM_UPS - 2; index++) {
    const one = await bench.send(kinds[index % kinds.length] as TierRequest, "warm-up");
    if (one !== undefined && isRefusal(one) && !bench.refuses(one)) bench.leaveOut(one);
    if (index === 0 && one !== undefined && one.status === undefined) {
      throw unreachableError(bench.target.baseUrl, bench.sender.lastFailure ?? one.what);
    }
  }
  const lone = await Promise.all(bench.longStreams().map((request) => bench.send(request, "lone")));
  const streams = lone
    .filter((one) => one !== undefined && isAdmitted(one))
    .map((one) => one as NonNullable<typeof one>);
  await bench.wait(SETTLE_MS);
  bench.long = {
    ...bench.long,
    durationMs: median(streams.map(({ endUs, sentUs }) => (endUs - sentUs) / 1_000)),
    longestGapMs: Math.max(0, ...streams.map(({ longestGapUs }) => (longestGapUs ?? 0) / 1_000)),
    spread: Object.fromEntries(streams.map((one) => [one.dialect, spreadOf(one)])),
  };
}

/** Streams of /messages are optional: a gateway may reject them as a client error. */
function isRefusal({ dialect, stream, status }: Observation): boolean {
  return dialect === "messages" && stream && (status === 400 || status === 422 || status === 501);
}

/** Reports the kinds that the run omits. */
function refusedKinds(bench: TierBench, observations: readonly Observation[]): Finding[] {
  const refused = observations.filter((one) => bench.refuses(one));
  if (refused.length === 0) return [];
  const why = `streams of /messages are refused with ${refused[0]?.status}: the run does without them`;
  return [
    finding({
      name: "streams.refused",
      title: "Both dialects stream",
      requirements: ["STREAM-1"],
      observed: why,
      basis: "timing",
    }),
  ];
}
