import { median, UnreachableError } from "../../core/index.ts";
import type { LoadFinding, LoadPhase, LoadRun, LoadVerdict } from "../../record/index.ts";
import type { Limits } from "../../target/index.ts";
import { GeneratorHealth, TIER_BOUNDS } from "../generator-health.ts";
import { nowUs } from "../http/load-exchange.ts";
import { fact } from "../phase-record.ts";
import type { LoadContext, RanLoad } from "../run-workload.ts";
import { atTheLimit, judgeAtTheLimit, SHARE } from "./at-the-limit.ts";
import { type Fact, isAdmitted } from "./facts.ts";
import { freedSlots, fullHouse, fullHouseRequests, judgeFreedSlots, judgeFullHouse, SETTLE_MS } from "./full-house.ts";
import { judgeDenials } from "./judge-denials.ts";
import { judgeGrowth, judgeOutliers, judgeService, spreadOf } from "./judge-service.ts";
import { judgeOverTheLimit, type OverScript, overRequests, overSeconds, overTheLimit } from "./over-the-limit.ts";
import { OwnStalls } from "./own-stalls.ts";
import { judgePromises, type Promise_ } from "./promises.ts";
import { fleetOf, fleetPromises, judgeRecovery, type RecoveryScript, recover, recoverySeconds } from "./recovery.ts";
import { retryFigures } from "./retry-figures.ts";
import { type Ask, TierBench } from "./tier-bench.ts";

/**
 * `thorough`: races at bursts can be told from windows, and promises of a whole minute are waited for. `brief`: a minute
 * of overload. `quick`: no overload at all.
 */
export type TierLength = "thorough" | "brief" | "quick";

export interface TierOptions {
  readonly name: string;
  readonly limits: Limits;
  /** As written, for the record. */
  readonly written: unknown;
  readonly length: TierLength;
}

/** Lone requests at the beginning: connections and code become warm, and a lone stream is known. */
const WARM_UPS = 8;
/** Findings that need the whole run. */
export const RARE: readonly string[] = ["latency.stalls", "service.failed", "service.cut"];
/** Even requests of a quick run. */
const QUICK_EVEN = 32;
/** Promises that are waited for at the beginning of the overload, ms. */
const LONGEST_WAIT_MS = { thorough: 61_000, brief: 40_000 };

/** Requests of the phase at the limit: what is left of a minute's limit after the full house. */
export function atTheLimitRequests({ rpm, inFlight }: Limits): number {
  return Math.max(20, Math.floor(rpm * SHARE) - fullHouseRequests(inFlight) - WARM_UPS);
}

/** What a tier run may send at most, and how long it takes. */
export function tierCost(
  limits: Limits,
  length: TierLength,
): { requests: number; durationS: number; peakPerS: number } {
  const { rpm, inFlight } = limits;
  const even = atTheLimitRequests(limits);
  if (length === "quick") {
    const requests = WARM_UPS + fullHouseRequests(inFlight) + QUICK_EVEN;
    return { requests, durationS: 14 + QUICK_EVEN / ((rpm / 60) * SHARE), peakPerS: inFlight + 25 };
  }
  const thorough = length === "thorough";
  const requests =
    WARM_UPS +
    fullHouseRequests(inFlight) +
    // Denials of its first minute are waited out, and the same is sent once more.
    even * 2 +
    overRequests(rpm, inFlight, thorough) +
    fleetOf(inFlight) * 8 +
    inFlight;
  const durationS = 12 + Math.max(50, even / ((rpm / 60) * SHARE)) + overSeconds(thorough) + recoverySeconds(limits);
  return { requests, durationS, peakPerS: inFlight + 25 };
}

/** Judges an account by its limits: full house, at the limit, over the limit, recovery. */
export async function runTier({ name, limits, written, length }: TierOptions, context: LoadContext): Promise<RanLoad> {
  const thorough = length === "thorough";
  using health = new GeneratorHealth();
  using own = new OwnStalls();
  await using bench = new TierBench(name, limits, context);
  const over: OverScript = { promises: [], startUs: 0 };
  const recovery: RecoveryScript = { fleet: undefined, fleetStartUs: 0, fleetEndUs: 0 };
  await bench.sender.open(limits.inFlight + 32);
  const common = (facts: readonly Fact[]) => [
    // A kind that is refused as such was looked at once, in the warm-up.
    ...judgeDenials(
      facts.filter((one) => !bench.refuses(one)),
      context.target,
    ),
    ...judgeService(facts, bench.long, own),
  ];
  await bench.phase(
    { name: "warm-up", title: "Lone requests are served", totalS: 4 },
    () => warmUp(bench),
    (facts) => [...refusedKinds(bench, facts), ...common(facts)],
  );
  await bench.phase(
    { name: "full-house", title: "Exactly the limit in flight, and not one more", totalS: 4 },
    () => fullHouse(bench),
    (facts) => [...judgeFullHouse(facts, bench.facts, limits.inFlight), ...common(facts)],
  );
  if (!bench.stopped)
    await bench.phase(
      { name: "freed-slots", title: "What has ended makes room again, and company harms nobody", totalS: 6 },
      () => freedSlots(bench),
      (facts) => [...judgeFreedSlots(facts, bench.facts, limits.inFlight), ...common(facts)],
    );
  const even = length === "quick" ? QUICK_EVEN : atTheLimitRequests(limits);
  if (!bench.stopped)
    await bench.phase(
      { name: "at-the-limit", title: "Just below the rate nothing is denied", totalS: even / (bench.ratePerS * SHARE) },
      () => atTheLimit(bench, even),
      (facts) => [
        ...judgeAtTheLimit(facts, bench.facts, limits.rpm),
        ...judgeGrowth(facts),
        ...judgeOutliers(facts, own),
        ...common(facts),
      ],
    );
  if (!bench.stopped && length !== "quick")
    await bench.phase(
      {
        name: "over-the-limit",
        title: "Beyond the rate the rest is denied, and the limit holds",
        totalS: overSeconds(thorough) + 25,
      },
      () =>
        overTheLimit(bench, over, {
          thorough,
          longestWaitMs: thorough ? LONGEST_WAIT_MS.thorough : LONGEST_WAIT_MS.brief,
        }),
      (facts) => [...judgeOverTheLimit(facts, limits.rpm, over), ...judgePromises(over.promises), ...common(facts)],
    );
  const promises: Promise_[] = [...over.promises];
  if (!bench.stopped && length !== "quick")
    await bench.phase(
      { name: "recovery", title: "Obeying clients come back, and nothing was leaked", totalS: recoverySeconds(limits) },
      () => recover(bench, recovery, context.seed),
      (facts) => {
        const told = recovery.fleet === undefined ? [] : fleetPromises(recovery.fleet, bench.facts);
        promises.push(...told);
        return [
          ...judgeRecovery(facts, bench.facts, recovery, limits.inFlight),
          ...judgePromises(told),
          ...common(facts).filter(({ name: what }) => !RARE.includes(what)),
          // What is rare in each phase: the last one judges it over the whole run.
          ...judgeService(bench.facts, bench.long, own).filter(({ name: what }) => RARE.includes(what)),
          ...judgeOutliers(bench.facts, own),
        ];
      },
    );
  await bench.sampler.settle();
  const generator = health.close(
    bench.lag,
    {
      connectionWaits: bench.sender.waits,
      workers: 0,
      calibration: context.calibration,
    },
    TIER_BOUNDS,
  );
  const phases = generator.valid
    ? bench.phases
    : bench.phases.map((phase): LoadPhase => ({ ...phase, verdict: "inconclusive" }));
  const run: LoadRun = {
    name,
    kind: "tier",
    engine: "native",
    protocol: bench.sender.protocol,
    ...settle(phases, generator, bench),
    limits: { ...limits },
    keys: context.keys.map((key) => key.name),
    workload: written,
    startedAt: bench.startedAt.toISOString(),
    durationS: (nowUs() - bench.originUs) / 1_000_000,
    phases,
    retryAfter: retryFigures(bench.facts, promises, recovery, bench.originUs),
    generator,
  };
  return { run, histograms: bench.histograms };
}

/** @throws UnreachableError when nothing answers at all. */
async function warmUp(bench: TierBench): Promise<void> {
  const kinds = bench.kinds("echo");
  for (let index = 0; index < WARM_UPS - 2; index++) {
    const one = await bench.send(kinds[index % kinds.length] as Ask, "warm-up");
    if (one !== undefined && isRefusal(one) && !bench.refuses(one)) bench.leaveOut(one);
    if (index === 0 && one !== undefined && one.status === 0) {
      throw new UnreachableError(`no answer from ${bench.target.baseUrl}: ${bench.sender.lastFailure ?? one.what}`, {
        hint: "Check baseUrl in the target file, and that the gateway is running.",
      });
    }
  }
  const alone = await Promise.all(bench.longStreams().map((ask) => bench.send(ask, "alone")));
  const streams = alone
    .filter((one) => one !== undefined && isAdmitted(one))
    .map((one) => one as NonNullable<typeof one>);
  await bench.wait(SETTLE_MS);
  bench.long = {
    ...bench.long,
    durationMs: median(streams.map(({ endUs, sentUs }) => (endUs - sentUs) / 1_000)),
    longestGapMs: Math.max(0, ...streams.map(({ longestGapUs }) => longestGapUs / 1_000)),
    spread: Object.fromEntries(streams.map((one) => [one.dialect, spreadOf(one)])),
  };
}

/** Streams of /messages are not promised: a gateway may refuse them as a mistake of the caller. */
function isRefusal({ dialect, stream, status }: Fact): boolean {
  return dialect === "messages" && stream && (status === 400 || status === 422 || status === 501);
}

/** Says which kinds the run does without. */
function refusedKinds(bench: TierBench, facts: readonly Fact[]): LoadFinding[] {
  const refused = facts.filter((one) => bench.refuses(one));
  if (refused.length === 0) return [];
  const why = `streams of /messages are refused with ${refused[0]?.status}: the run does without them`;
  return [fact("streams.refused", "Both dialects stream", ["STREAM-1"], why)];
}

function settle(
  phases: readonly LoadPhase[],
  generator: LoadRun["generator"],
  { stopped, circuit }: Pick<TierBench, "stopped" | "circuit">,
): { verdict: LoadVerdict; reasons: string[] } {
  if (!generator.valid)
    return { verdict: "inconclusive", reasons: generator.problems.map((problem) => `generator: ${problem}`) };
  const of = (verdict: LoadVerdict) => phases.filter((phase) => phase.verdict === verdict);
  const tell = (some: readonly LoadPhase[]) => some.map(({ name, message }) => `${name}: ${message}`);
  const early = circuit.why === undefined ? [] : [`stopped early: ${circuit.why}`];
  if (of("fail").length > 0) return { verdict: "fail", reasons: [...early, ...tell(of("fail"))] };
  if (early.length > 0) return { verdict: "inconclusive", reasons: early };
  if (stopped) return { verdict: "inconclusive", reasons: ["interrupted"] };
  if (of("inconclusive").length > 0) return { verdict: "inconclusive", reasons: tell(of("inconclusive")) };
  if (of("warn").length > 0) return { verdict: "warn", reasons: tell(of("warn")) };
  return { verdict: "pass", reasons: [] };
}
