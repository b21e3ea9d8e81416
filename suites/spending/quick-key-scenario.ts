import type { Session } from "../../src/checks/index.ts";
import { cutOf, drive, type Effort, inTurnsOf, kindsOf } from "./drive.ts";
import { type KeyRecording, NOTHING } from "./key-scenario.ts";

/** Large requests use a small limit up in a few; where they do not, a quick run says nothing. */
const EFFORT: Effort = { small: 0, large: 12, waitBetween: false };
/** Where some kinds of traffic were denied after so few, one that was not denied after all of them is not charged. */
const FEW = EFFORT.large / 2;
/** A lifetime budget has no allowance for a late tally; seconds. */
const LAG_S = 8;

/**
 * What a quick run learns of a small lifetime budget: whether each kind of traffic uses it up, each on a fresh key, all at the same
 * time.
 *
 * @returns `undefined` where no fresh keys can be made: a quick run does not use up a key of the target file.
 */
export async function useUpQuickly(t: Session): Promise<KeyRecording | undefined> {
  const key = await t.freshKey("key.childSmall");
  if (key === undefined) return undefined;
  const before = await t.send({ key, intent: "either" });
  const all = await Promise.all(
    [...kindsOf(t), inTurnsOf(t), cutOf(t)].map(async (kind) => {
      const own = await t.freshKey("key.childSmall");
      return own === undefined ? undefined : drive(t, own, kind, LAG_S, EFFORT);
    }),
  );
  const drives = all.filter((one) => one !== undefined);
  const isSmall = drives.some(({ denial, served }) => denial !== null && served <= FEW);
  // No batches: so many failures as show a charge for them are too many for a quick run.
  return { ...NOTHING, before, drives: isSmall ? drives : [] };
}
