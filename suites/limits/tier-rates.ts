import {
  type Answer,
  atLeast,
  type Check,
  defineCheck,
  type Probe,
  type Verdict,
} from "../../src/conformance/index.ts";
import { isRateDenial, isServed } from "./burst.ts";
import { paced } from "./paced.ts";
import { fillOnce } from "./tier-slots.ts";
import { knockAtOnce } from "./while-denied.ts";

/** Share of a minute's rate that is tried: what another tier's limit, or half of the own one, would not let through. */
const SHARES = { starter: 0.7, growth: 0.33 } as const;
type Tier = keyof typeof SHARES;
/** Requests at once, where there are as many slots; and how long all of them may take, ms. */
const AT_ONCE = 16;
const MOST_MS = 20_000;

/** What one tier's account let through. */
type Tried = {
  readonly tier: string;
  readonly wanted: number;
  readonly answers: readonly Answer[];
  /** As many once more, evenly over a minute, where the rate had denied one of them. */
  readonly evenly: readonly Answer[];
};

const tierRates = defineCheck({
  id: "limits.tier-rates",
  title: "The account of a tier has the rate of its tier",
  covers: ["LIMIT-2", "LIMIT-RATE-3"],
  explains:
    "On the account of a tier whose slots were filled a moment ago, short requests until 70 % of a minute's rate (growth: 33 %) have been sent within a few seconds. If the rate denies one before that, as a limiter with little burst may, as many are sent evenly over a minute after a quiet one: none of them may be denied. Shows accounts that are kept by another tier's rate; `gauntlet load` measures the rate itself.",
  needs: ["model.stream"],
  // Other checks may use the account of a tier because of its room; and a load run that follows wants it rested.
  alone: "first",
  cost: { requests: 260, waitS: 2 },
  async probe(t) {
    const tiers = (Object.keys(SHARES) as Tier[]).filter((tier) => t.target.tiers[tier] !== undefined);
    return { tried: await Promise.all(tiers.map((tier) => tryRate(t, tier))) };
  },
  judge({ tried }, verdict) {
    for (const one of tried) judgeRate(one, verdict);
    if (verdict.findings.length === 0)
      verdict.notApplicable(
        "the target has no account of these tiers, or its models are too slow for so many requests",
      );
  },
});

async function tryRate(t: Probe, tier: Tier): Promise<Tried> {
  const account = t.target.tiers[tier];
  if (account === undefined) return { tier, wanted: 0, answers: [], evenly: [] };
  const { key, limits } = account;
  const wanted = Math.floor(limits.rpm * SHARES[tier]);
  const { held, extras } = await fillOnce(t, tier);
  const answers: Answer[] = [...held, ...extras];
  const atOnce = Math.max(1, Math.min(AT_ONCE, Math.floor(limits.inFlight / 2)));
  const endUs = t.nowUs() + MOST_MS * 1_000;
  while (answers.length < wanted && !answers.some(isRateDenial) && t.nowUs() < endUs) {
    const count = Math.min(atOnce, wanted - answers.length);
    answers.push(...(await knockAtOnce(t, key, count)));
  }
  const evenly = answers.some(isRateDenial) ? await paced(t, [{ key, endpoint: "chat" }], wanted) : [];
  return { tier, wanted, answers, evenly };
}

function judgeRate({ tier, wanted, answers, evenly }: Tried, verdict: Verdict): void {
  const tried = evenly.length > 0 ? evenly : answers;
  // Too slow to come so far: nothing is known.
  if (tried.length < wanted || !tried.some(isServed)) return;
  const denied = tried.filter(isRateDenial);
  const how = evenly.length > 0 ? "evenly over a minute" : "within a few seconds";
  const seen = {
    in: denied[0],
    because: `not denied for the rate, of ${tried.length} on the ${tier} tier's account, ${how}`,
  };
  verdict.must("LIMIT-2", tried.length - denied.length, atLeast(tried.length), seen);
  verdict.must("LIMIT-RATE-3", tried.length - denied.length, atLeast(tried.length), seen);
}

export const TIER_RATES: readonly Check[] = [tierRates];
