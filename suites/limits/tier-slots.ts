import { type Check, defineCheck, type Held } from "../../src/conformance/index.ts";
import { isRateDenial, isServed, isSlotDenial } from "./burst.ts";
import { longStream } from "./long-stream.ts";
import { servedWhileHeld } from "./while-full.ts";

/** Tiers whose slots a conformance run fills; those of larger ones are filled by `gauntlet load`. */
const TIERS = ["starter", "growth"] as const;
/** Requests beyond the limit. */
const EXTRA = 6;

const tierSlots = defineCheck({
  id: "limits.tier-slots",
  title: "The account of a tier has as many slots as its tier",
  covers: ["LIMIT-2", "LIMIT-CONC-2"],
  explains:
    "On the account of a tier, as many long streams at once as the tier has slots: none may be denied for their number. While all of them run, a few more: none may be served. Shows accounts that are kept by another tier's limits.",
  needs: ["model.stream"],
  across: { case: TIERS },
  // Other checks may use the account of a tier because of its room; and a load run that follows wants it rested.
  alone: "first",
  cost: { requests: 206, waitS: 3 },
  async probe(t) {
    const account = t.target.tiers[t.case as (typeof TIERS)[number]];
    if (account === undefined) return { slots: 0, held: [], extras: [] };
    const slots = account.limits.inFlight;
    const long = longStream(account.key);
    const house: Held[] = Array.from({ length: slots }, () => t.begin(long));
    await Promise.all(house.map(({ live }) => live.started));
    const extras = await Promise.all(Array.from({ length: EXTRA }, () => t.begin(long).done));
    return { slots, held: await Promise.all(house.map(({ done }) => done)), extras };
  },
  judge({ slots, held, extras }, verdict) {
    if (held.length === 0) return verdict.notApplicable("the target has no account of this tier");
    const rate = held.find(isRateDenial);
    if (rate !== undefined)
      return verdict.notApplicable(`the rate limit has no room for ${slots} requests at once (${rate.summary})`);
    const denied = held.filter(isSlotDenial);
    const seen = { in: denied[0] ?? held[0], because: `of ${slots} streams at once denied for their number` };
    verdict.must("LIMIT-2", denied.length, 0, seen);
    verdict.must("LIMIT-CONC-2", denied.length, 0, seen);
    if (!held.every(isServed)) return;
    const served = servedWhileHeld(extras, held);
    verdict.must("LIMIT-2", served !== undefined, false, { in: served, because: `served while ${slots} streams ran` });
  },
});

export const TIER_SLOTS: readonly Check[] = [tierSlots];
