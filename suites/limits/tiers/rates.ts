import { type Check, defineCheck, type Response, type Session } from "../../../src/checks/index.ts";
import { atLeast, atMost, type Expectation, type Verdict } from "../../../src/judging/index.ts";
import type { Target } from "../../../src/target/index.ts";
import { isRateDenial, isServed } from "../denials.ts";
import { untilQuiet } from "../paced.ts";
import { sendPlain, sendPlainAtOnce } from "../send.ts";

/** Share of a minute's rate that is sent within seconds; for the largest tier only enough to distinguish it from the next one. */
const SHARES = { starter: 0.9, growth: 0.9, scale: 0.4 } as const;
type Tier = keyof typeof SHARES;
/** If less than this share of the rate is admitted, it is a different rate. */
const ENOUGH = 0.85;
/** No window admits this many minutes of requests within one: the end of one window, all of the next, and a margin. */
const MORE_THAN_ANY_WINDOW = 2.1;
/** Less than this share of the rate would not distinguish the tiers. */
const LEAST = 0.4;
/** A burst of this share of the rate rules out a small bucket; how capacity then returns shows the kind of limiter. */
const LARGE_BURST = 0.3;
/**
 * Requests per round, and the interval between rounds; slow for starter, so that a limiter with delayed counts is seen to take
 * effect.
 */
const ROUNDS = {
  starter: { atOnce: 8, everyMs: 200 },
  growth: { atOnce: 16, everyMs: 100 },
  scale: { atOnce: 32, everyMs: 100 },
} as const;
/** Rounds that take longer than a minute say nothing about one minute. */
const MAX_MS = 50_000;
/** After a denial, one request a second until one is admitted, or until nearly a minute after the first request. */
const RETRY_EVERY_MS = 1_000;
const NEARLY_A_MINUTE_MS = 57_000;
const LONG_SILENCE_S = 50;
/** "A safe share of the limit" (LIMIT-RATE-3), and how many of such a series may be denied for uneven arrival. */
const SAFE_SHARE = 0.8;
const UNEVEN_SHARE = 0.1;
/** Fewer say nothing about a rate; a limiter with little burst needs no more. */
const MIN_EVENLY = 150;
const MAX_EVENLY = 800;
/** Part of the budget that is left for other checks that may be running. */
const RESERVE = 10;

/** What one tier's account admitted. */
type TierAttempt = {
  readonly tier: Tier;
  readonly rpm: number;
  /** Requests to send unless one is denied. */
  readonly most: number;
  readonly responses: readonly Response[];
  /** From the first of them to the end of the last response, seconds. */
  readonly seconds: number;
  /** One retry per second, after a denial that was too late for a small bucket and too early for the tier's rate. */
  readonly tries: readonly Response[];
  /** From the first request to the last attempt that was denied, seconds. */
  readonly silentS: number;
  /** A safe share of the rate, evenly spaced, after a quiet minute. */
  readonly evenly: readonly Response[];
};

function requestsOfTiers({ tiers }: Target): number {
  const one = (tier: Tier) =>
    (tiers[tier]?.limits.rpm ?? 0) * (tier === "starter" ? MORE_THAN_ANY_WINDOW : SHARES[tier]);
  return Math.ceil((Object.keys(SHARES) as Tier[]).reduce((sum, tier) => sum + one(tier), 0));
}

const tierRates = defineCheck({
  id: "limits.tier-rates",
  basis: "timing",
  title: "A tier's account has the tier's rate",
  covers: ["LIMIT-2", "LIMIT-RATE-1", "LIMIT-RATE-3"],
  explains:
    "At the end of the run, sends short requests for some seconds on the quiet account of each tier: for starter until one is denied, for growth 90 % and for scale 40 % of a minute's rate, as far as the budget allows. If more requests than two minutes allow are admitted within one minute, the limit is missing or is another tier's. A denial before 85 % of a minute's requests is examined: if nothing more is admitted for the rest of the minute, the account has another rate; otherwise 80 % of the rate is sent evenly after a quiet minute, of which one in ten may be denied. In a run with load over the tiers, the load tests this instead.",
  needs: ["tiers"],
  schedule: { order: "exclusive-last" },
  cost: { requests: requestsOfTiers, waitS: 60, leftToLoad: true },
  reaches: "tier",
  async run(t) {
    if (t.run.includesLoad) return { tried: [], reasonOmitted: "the load over the tiers measures it" };
    const first: TierAttempt[] = [];
    for (const tier of Object.keys(SHARES) as Tier[]) {
      const set = first.filter(isDoubtful).reduce((sum, { rpm }) => sum + Math.min(safeRpm(rpm), MAX_EVENLY), 0);
      const tried = await tryRate(t, tier, room(t) - set);
      if (tried !== undefined) first.push(tried);
    }
    const tried = await Promise.all(first.map((one) => retryEvenlySpaced(t, one)));
    return { tried, reasonOmitted: null };
  },
  judge({ tried, reasonOmitted }, verdict) {
    if (reasonOmitted !== null) return verdict.notApplicable(reasonOmitted);
    for (const one of tried) judgeRate(one, verdict);
    if (verdict.findings.length === 0)
      verdict.notApplicable(
        "the target has no account of a tier, its models are too slow for this many requests, or the budget does not allow them",
      );
  },
});

/** Requests that the budget still has room for at this many output tokens each. */
function room(t: Session, tokensEach = 1): number {
  const { requests, outputTokens } = t.left;
  return Math.min(requests, Math.floor(outputTokens / Math.max(1, tokensEach))) - RESERVE;
}

/** Requests per minute that no limiter with this rate denies if they are evenly spaced. */
const safeRpm = (rpm: number): number => Math.floor(rpm * SAFE_SHARE);

/** @returns `undefined` if the target has no such account or the budget has no room. */
async function tryRate(t: Session, tier: Tier, left: number): Promise<TierAttempt | undefined> {
  const account = t.target.tiers[tier];
  if (account === undefined) return undefined;
  const { key, limits } = account;
  const { rpm } = limits;
  const intended = Math.floor(rpm * SHARES[tier]);
  const beyond = Math.ceil(rpm * MORE_THAN_ANY_WINDOW);
  let most = tier === "starter" && left > beyond + MIN_EVENLY ? beyond : Math.min(intended, left);
  if (most < rpm * LEAST) return undefined;
  await untilQuiet(t, key);
  const startUs = t.nowUs();
  const sinceMs = () => (t.nowUs() - startUs) / 1_000;
  const atOnce = Math.max(1, Math.min(ROUNDS[tier].atOnce, Math.floor(limits.inFlight / 2)));
  const responses: Response[] = [];
  while (responses.length < most && responses.every(isServed) && sinceMs() < MAX_MS) {
    const roundUs = t.nowUs();
    const { outputTokens } = t.left;
    responses.push(...(await sendPlainAtOnce(t, key, Math.min(atOnce, most - responses.length))));
    // A model's reply to a short prompt can be long.
    if (responses.length <= atOnce)
      most = Math.min(most, room(t, (outputTokens - t.left.outputTokens) / responses.length));
    if (most < rpm * LEAST) return undefined;
    await t.wait(Math.max(0, ROUNDS[tier].everyMs - (t.nowUs() - roundUs) / 1_000));
  }
  const burst = { tier, rpm, most, responses, seconds: sinceMs() / 1_000 };
  const tries: Response[] = [];
  let silentS = 0;
  if (isDoubtful(burst) && served(responses) >= rpm * LARGE_BURST) {
    while (!tries.some(isServed) && sinceMs() < NEARLY_A_MINUTE_MS) {
      await t.wait(RETRY_EVERY_MS);
      const response = await sendPlain(t, key);
      tries.push(response);
      if (isRateDenial(response)) silentS = sinceMs() / 1_000;
    }
  }
  return { ...burst, tries, silentS, evenly: [] };
}

const served = (responses: readonly Response[]): number => responses.filter(isServed).length;

/** Denied before the rate of the tier was used. */
function isDoubtful({ responses, rpm, most }: Pick<TierAttempt, "responses" | "rpm" | "most">): boolean {
  return responses.some(isRateDenial) && served(responses) < Math.min(rpm * ENOUGH, most);
}

/** No capacity returned for nearly a minute: the account admits this much per minute. */
const hasNoRefill = ({ tries, silentS }: TierAttempt): boolean =>
  tries.length > 0 && tries.every(isRateDenial) && silentS >= LONG_SILENCE_S;

/** Sends evenly what a limiter with little burst must admit. */
async function retryEvenlySpaced(t: Session, one: TierAttempt): Promise<TierAttempt> {
  const account = t.target.tiers[one.tier];
  if (account === undefined || !isDoubtful(one) || hasNoRefill(one)) return one;
  const count = Math.min(safeRpm(one.rpm), MAX_EVENLY, room(t));
  if (count < MIN_EVENLY) return one;
  await untilQuiet(t, account.key);
  const sent: Promise<Response>[] = [];
  // Measured from send to send: a late request must not be followed by the next one too soon.
  for (let index = 0; index < count && room(t) > 0; index++) {
    sent.push(sendPlain(t, account.key));
    await t.wait(60_000 / safeRpm(one.rpm));
  }
  return { ...one, evenly: await Promise.all(sent) };
}

function judgeRate(one: TierAttempt, verdict: Verdict): void {
  const { tier, rpm, most, responses, seconds, evenly } = one;
  const denied = responses.find(isRateDenial);
  const many = served(responses);
  /** A statement about the rate is one about the tier, too. */
  const must = (
    requirement: "LIMIT-RATE-1" | "LIMIT-RATE-3",
    observed: number,
    expected: number | Expectation<number>,
    seen: object,
  ) => {
    for (const each of ["LIMIT-2", requirement] as const) verdict.must(each, observed, expected, seen);
  };
  if (denied === undefined) {
    // Too slow to get that far, or stopped for another reason: the result is unknown.
    if (many < most) return;
    const because = `served on the ${tier} tier's account within ${Math.round(seconds)} s, and none was denied`;
    const seen = { in: responses.at(-1), because };
    if (most <= rpm) must("LIMIT-RATE-3", many, atLeast(most), seen);
    else must("LIMIT-RATE-1", many, atMost(2 * rpm), seen);
    return;
  }
  if (!isDoubtful(one) || hasNoRefill(one)) {
    const because = `served on the ${tier} tier's account before the first rate limit denial`;
    const enough = Math.min(Math.floor(rpm * ENOUGH), most);
    must("LIMIT-RATE-3", many, atLeast(enough), { in: denied, because });
    return;
  }
  if (evenly.length < MIN_EVENLY || !evenly.some(isServed)) return;
  const refused = evenly.filter(isRateDenial);
  const because = `requests (of ${evenly.length} sent evenly on the ${tier} tier's account at ${safeRpm(rpm)} a minute) denied by the rate limit`;
  const bound = Math.floor(evenly.length * UNEVEN_SHARE);
  must("LIMIT-RATE-3", refused.length, atMost(bound), { in: refused[0], because });
}

export const TIER_RATES: readonly Check[] = [tierRates];
