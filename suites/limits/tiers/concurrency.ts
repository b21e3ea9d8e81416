import {
  type Check,
  defineCheck,
  type HeldRequest,
  limitedFor,
  type Response,
  type Session,
} from "../../../src/checks/index.ts";
import { servedAtLimit } from "../concurrency/in-flight.ts";
import { admittedIn, isConcurrencyDenial, isRateDenial, isServed, strayFailures } from "../denials.ts";
import { atOnce, longStream, sendPlain } from "../send.ts";

const TIERS = ["starter", "growth", "scale"] as const;
type Tier = (typeof TIERS)[number];
/** The largest limit is only tested if a smaller one was filled within this time, ms: otherwise use `gauntlet load`. */
const BRISK_MS = 1_500;
/** Requests beyond the limit. */
const EXTRA = 6;

const tierConcurrency = defineCheck({
  id: "limits.tier-concurrency",
  basis: "timing",
  title: "A tier's account has the tier's concurrency limit",
  covers: ["LIMIT-2", "LIMIT-CONC-2", "LIMIT-1"],
  explains:
    "On a tier's account, sends concurrent long streams up to the tier's limit: none may be denied by the concurrency limit. While all of them run, sends a few more: none may be served, and accounts set aside for limits, whose limits are far lower, may not be denied because of these streams. A failure means that an account has another tier's limit, or that accounts share one. The largest tier is tested if the previous one was filled within 1.5 s; both tiers' streams are aborted once the result is known.",
  needs: ["model.stream"],
  across: { case: TIERS },
  // Other checks may use a tier's account because of its capacity, and a load run that follows needs it idle.
  schedule: { order: "exclusive-first" },
  cost: { requests: ({ tiers }, axes) => (tiers[axes.case as Tier]?.limits.inFlight ?? 0) + 10, waitS: 3 },
  reaches: "tier",
  async run(t) {
    const tier = t.case as Tier;
    if (t.target.tiers[tier] === undefined)
      return { ...NOTHING, reasonOmitted: "the target has no account of this tier" };
    const reasonOmitted = tier === "scale" ? await whyNotScale(t) : null;
    return reasonOmitted === null ? { ...(await fillOnce(t, tier)), reasonOmitted } : { ...NOTHING, reasonOmitted };
  },
  judge({ limit, held, extras, unrelated, reasonOmitted }, verdict) {
    if (reasonOmitted !== null) return verdict.notApplicable(reasonOmitted);
    const rate = held.find(isRateDenial);
    if (rate !== undefined)
      return verdict.notApplicable(`the rate limit has no room for ${limit} concurrent requests (${rate.summary})`);
    const denied = held.filter(isConcurrencyDenial);
    const failed = held.length - admittedIn(held) - denied.length;
    if (denied.length === 0 && failed > strayFailures(held).length)
      return verdict.inconclusive(
        `${failed} of ${limit} streams were neither served nor denied by the concurrency limit`,
      );
    const seen = {
      in: denied[0] ?? held[0],
      because: `streams (of ${limit} concurrent ones) denied by the concurrency limit`,
    };
    verdict.must("LIMIT-2", denied.length, 0, seen);
    verdict.must("LIMIT-CONC-2", denied.length, 0, seen);
    if (!held.every(isServed)) return;
    const served = servedAtLimit(extras, held);
    verdict.must("LIMIT-2", served !== undefined, false, { in: served, because: `served while ${limit} streams ran` });
    if (unrelated.length === 0) return;
    // Only if every attempt was denied: that account's own requests would have ended sooner or later.
    verdict.must("LIMIT-1", unrelated.every(isConcurrencyDenial), false, {
      in: unrelated[0],
      because: `another account was denied by the concurrency limit while ${limit} streams ran on this one`,
    });
  },
});

/** Whether a smaller limit shows that testing the largest one is affordable, or the reason why it is not. */
async function whyNotScale(t: Session): Promise<string | null> {
  const { limit, filledMs, held } = await fillOnce(t, "growth");
  if (limit === 0) return "the target has no account of the growth tier to try before: gauntlet load scale shows it";
  return filledMs > BRISK_MS || !held.every(isServed)
    ? "the growth tier was not filled within 1.5 s: gauntlet load scale shows it"
    : null;
}

type Filled = {
  readonly limit: number;
  readonly held: readonly Response[];
  readonly extras: readonly Response[];
  /** Requests on an account with a low limit during that time. */
  readonly unrelated: readonly Response[];
  /** Until the last of the streams had begun. */
  readonly filledMs: number;
};

const NOTHING: Filled = { limit: 0, held: [], extras: [], unrelated: [], filledMs: 0 };

/** Fills the concurrency limit of a tier's account, once per run. */
export function fillOnce(t: Session, tier: Tier): Promise<Filled> {
  return t.scenarios.once(`limits.tier-concurrency.${tier}`, () => fill(t, tier));
}

async function fill(t: Session, tier: Tier): Promise<Filled> {
  const account = t.target.tiers[tier];
  if (account === undefined) return NOTHING;
  const limit = account.limits.inFlight;
  const long = longStream(account.key);
  const startUs = t.nowUs();
  const streams: HeldRequest[] = Array.from({ length: limit }, () => t.start(long));
  await Promise.all(streams.map(({ started }) => started));
  const filledMs = (t.nowUs() - startUs) / 1_000;
  const [extras, unrelated] = await Promise.all([atOnce(t, [long], EXTRA), sendUnrelated(t)]);
  // The output of this many streams would cost as much as the rest of the run, and a load run that follows sends as many to
  // completion.
  if (tier !== "starter" || t.run.includesLoad) for (const held of streams) held.abort();
  return { limit, held: await Promise.all(streams.map(({ done }) => done)), extras, unrelated, filledMs };
}

/** Number of attempts and time between them, ms: other checks may be filling that account's limit themselves. */
const UNRELATED_TRIES = 3;
const UNRELATED_SPACING_MS = 100;

/** Sends on the account with the lowest limit while a tier's limit is filled. */
async function sendUnrelated(t: Session): Promise<Response[]> {
  const aside = limitedFor(t.target, "concurrency");
  // Do not disturb the account that is used to measure the rate.
  if (aside === undefined || aside.shared || aside.key === limitedFor(t.target, "rate")?.key) return [];
  const responses: Response[] = [];
  for (let tried = 0; tried < UNRELATED_TRIES; tried++) {
    if (tried > 0) await t.wait(UNRELATED_SPACING_MS);
    const response = await sendPlain(t, aside.key);
    responses.push(response);
    if (!isConcurrencyDenial(response)) break;
  }
  return responses;
}

export const TIER_CONCURRENCY: readonly Check[] = [tierConcurrency];
