import { cutOf, type Drive, drive, type Effort, inTurnsOf, type Kind, kindsOf } from "./drive.ts";
import { freshKeyOf, type KeyRun } from "./key-recording.ts";

/** A few large requests use up a small limit; if they do not, a quick run is inconclusive. */
const EFFORT: Effort = { small: 0, large: 12, waitBetween: false };
/** If some kinds of traffic were denied after this many, one that was not denied after all of them is not charged. */
const FEW = EFFORT.large / 2;
/** A lifetime budget has no allowance for a late tally; seconds. */
const LAG_S = 8;

/**
 * What a quick run learns about a small lifetime budget, all on fresh keys and concurrently: whether each kind of traffic uses it
 * up. The first of these keys is the used-up one for the steps that follow.
 *
 * @returns an empty list if the limit is not small.
 */
export async function driveQuickly(run: KeyRun): Promise<Drive[]> {
  const { t } = run;
  const driveOwn = async (kind: Kind) => {
    const key = await freshKeyOf(run);
    return key === undefined ? undefined : { key, drive: await drive(t, key, kind, LAG_S, EFFORT) };
  };
  const driven = await Promise.all([...kindsOf(t), cutOf(t)].map(driveOwn));
  // The next drive makes a provider fail, which would disturb other checks.
  await t.afterOthers();
  const known = [...driven, await driveOwn(inTurnsOf(t))].filter((one) => one !== undefined);
  const drives = known.map((one) => one.drive);
  const [first] = known;
  const isSmall = drives.some(({ denial, served }) => denial !== null && served <= FEW);
  if (first === undefined || !isSmall) return [];
  run.key = first.key;
  run.own = first.drive.kind;
  return drives;
}
