import type { Session } from "../../src/checks/index.ts";
import type { Key } from "../../src/target/index.ts";
import { cutOf, type Drive, drive, type Effort, inTurnsOf, type Kind, kindsOf } from "./drive.ts";
import { type KeyRecording, NOTHING } from "./key-scenario.ts";

/** A few large requests use up a small limit; if they do not, a quick run is inconclusive. */
const EFFORT: Effort = { small: 0, large: 12, waitBetween: false };
/** If some kinds of traffic were denied after this many, one that was not denied after all of them is not charged. */
const FEW = EFFORT.large / 2;
/** A lifetime budget has no allowance for a late tally; seconds. */
const LAG_S = 8;

const STATE = "childSmall";

/**
 * What a quick run learns about a small lifetime budget, all on fresh keys and concurrently: whether each kind of traffic uses it
 * up, and whether other keys of the account are affected.
 *
 * @returns `undefined` if no fresh keys can be made: a quick run does not use up a key of the target file.
 */
export async function useUpQuickly(t: Session): Promise<KeyRecording | undefined> {
  const key = await t.freshKey(`key.${STATE}`);
  if (key === undefined) return undefined;
  const before = await t.send({ key, intent: "either" });
  const driveOwn = async (kind: Kind) => {
    const own = await t.freshKey(`key.${STATE}`);
    return own === undefined ? undefined : { key: own, drive: await drive(t, own, kind, LAG_S, EFFORT) };
  };
  const driven = await Promise.all([...kindsOf(t), cutOf(t)].map(driveOwn));
  // It makes a provider fail.
  await t.afterOthers();
  const known = [...driven, await driveOwn(inTurnsOf(t))].filter((one) => one !== undefined);
  const drives = known.map((one) => one.drive);
  const [first] = known;
  const isSmall = drives.some(({ denial, served }) => denial !== null && served <= FEW);
  if (first === undefined || !isSmall) return { ...NOTHING, before };
  // No batches: the failures needed to show a charge for them are too many for a quick run.
  return { ...NOTHING, before, drives, ...(await othersOf(t, first)) };
}

/** Other keys of the account, while one is denied. */
async function othersOf(
  t: Session,
  { key, drive: { kind, denial } }: { readonly key: Key; readonly drive: Drive },
): Promise<Pick<KeyRecording, "sibling" | "fresh" | "again">> {
  if (denial === null) return NOTHING;
  const { endpoint, mode } = kind;
  const other = await t.freshKey(`key.${STATE}`);
  return {
    sibling: [await t.send({ key: "valid", endpoint, mode })],
    fresh: other === undefined ? null : await t.send({ key: other, endpoint, mode, intent: "either", repeats: false }),
    again: await t.send({ key, mode: "non-streaming", intent: "denied", repeats: false }),
  };
}
