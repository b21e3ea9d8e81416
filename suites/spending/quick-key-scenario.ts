import type { RequestSpec, Session } from "../../src/checks/index.ts";
import type { Key } from "../../src/target/index.ts";
import { servable } from "../shared/servable.ts";
import { LONG_TEXT } from "../shared/texts.ts";
import { cutOf, drive, type Effort, inTurnsOf, isSpendingDenial, kindsOf } from "./drive.ts";
import { type FreeBatch, goodAlone, type KeyRecording } from "./key-scenario.ts";

/** Large requests use a small limit up in a few; where they do not, a quick run says nothing. */
const EFFORT: Effort = { small: 0, large: 12, waitBetween: false };
/** Where some kinds of traffic were denied after so few, one that was not denied after all of them is not charged. */
const FEW = EFFORT.large / 2;
/** A lifetime budget has no allowance for a late tally; seconds. */
const LAG_S = 8;
/** Large requests of each way to fail. */
const FAILURES = 8;

/**
 * What a quick run learns of a small lifetime budget: whether failures are free, and whether each kind of traffic uses it up. Each
 * on a fresh key, all at the same time.
 *
 * @returns `undefined` where no fresh keys can be made: a quick run does not use up a key of the target file.
 */
export async function useUpQuickly(t: Session): Promise<KeyRecording | undefined> {
  const key = await t.freshKey("key.childSmall");
  if (key === undefined) return undefined;
  const before = await t.send({ key, intent: "either" });
  const [batch, ...all] = await Promise.all([
    failures(t, key),
    ...[...kindsOf(t), inTurnsOf(t), cutOf(t)].map(async (kind) => {
      const own = await t.freshKey("key.childSmall");
      return own === undefined ? undefined : drive(t, own, kind, LAG_S, EFFORT);
    }),
  ]);
  const drives = all.filter((one) => one !== undefined);
  const isSmall = drives.some(({ denial, served }) => denial !== null && served <= FEW);
  return {
    before,
    batches: [batch],
    drives: isSmall ? drives : [],
    denied: [],
    sibling: [],
    fresh: null,
    again: null,
    parallel: null,
    burst: null,
  };
}

/** Ways to fail, in every form, and a good request after them; where that is denied, as many good ones alone on another key. */
async function failures(t: Session, key: Key): Promise<FreeBatch> {
  const large: RequestSpec = { key, prompt: LONG_TEXT, intent: "odd", repeats: false };
  const forms = kindsOf(t);
  const failing = await servable(
    t,
    forms.map((form) => ({ ...large, ...form, model: "upstreamError" })),
  );
  const requests = [
    ...failing,
    ...forms.map((form): RequestSpec => ({ ...large, ...form, model: "unknown" })),
    ...forms.map(
      (form): RequestSpec => ({
        ...large,
        ...form,
        fields: { messages: [{ role: "user", content: LONG_TEXT }, null] },
      }),
    ),
  ];
  const rounds = FAILURES / forms.length;
  const answers = await Promise.all(Array.from({ length: rounds }, () => requests.map((one) => t.send(one))).flat());
  const after = await t.send({ key, intent: "either" });
  // As many as the key's first good request, and the one after the failures.
  const control = isSpendingDenial(after) ? await goodAlone(t, "childSmall", 2) : null;
  return { what: "a failing provider, an unknown model, a refused body", failures: answers, after, control };
}
