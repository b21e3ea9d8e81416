import type { Answer, Ask, Probe } from "../../src/conformance/index.ts";
import type { Key } from "../../src/target/index.ts";
import { LONG_TEXT } from "../shared/texts.ts";
import { type Drive, drive, isSpendingDenial, KINDS, type Kind } from "./drive.ts";

/** A batch of requests that end in failure, and a good request after it. */
export type FreeBatch = { readonly what: string; readonly failures: readonly Answer[]; readonly after: Answer };

export type KeyRecording = {
  /** The key's first good request: it must not be used up already. */
  readonly before: Answer;
  readonly batches: readonly FreeBatch[];
  readonly drives: readonly Drive[];
  /** Requests of every kind with the key that was used up. */
  readonly denied: readonly Answer[];
  /** Another key of the account, while the used-up one is denied, and that one again. */
  readonly sibling: readonly Answer[];
  readonly again: Answer | null;
  /** Served of a burst in parallel on a fresh key, where one can be made; `null` otherwise. */
  readonly parallel: { readonly served: number; readonly atOnce: number } | null;
};

/** How long a daily cap's tally may lag, and a little more; a budget has no such allowance. Seconds. */
const LAG_S = { cappable: 75, childSmall: 8 } as const;
/** Once one kind of traffic has had the whole allowance in vain, the others get this much. */
const SHORT_LAG_S = 5;

/** Failing requests per batch: each so large that a few of them would use up a small limit, were they charged. */
const FAILURES = 16;

/**
 * What a small cap or budget does: failures are free, each kind of traffic counts, others of the account are unharmed.
 * With a supplier of fresh keys each kind gets a key of its own; otherwise the one key is used up by one kind.
 */
export async function keyScenario(t: Probe, state: "cappable" | "childSmall"): Promise<KeyRecording> {
  const configured = t.target.keys[state];
  const made = await t.freshKey(`key.${state}`);
  const key = configured ?? made;
  if (key === undefined) throw new Error(`no key in the state ${state}`);
  const before = await t.ask({ key, endpoint: "chat", intent: "either" });
  const batches = before.admitted ? await freeBatches(t, key) : [];
  // The static keys take the kinds that gateways forget most: streams of one dialect each.
  const own: Kind = await kindFor(t, state);
  const drives: Drive[] = [await drive(t, key, own, LAG_S[state])];
  if (made !== undefined) {
    for (const kind of KINDS.filter(({ endpoint, mode }) => endpoint !== own.endpoint || mode !== own.mode)) {
      const fresh = await t.freshKey(`key.${state}`);
      const inVain = drives.some(({ denial }) => denial === null);
      if (fresh !== undefined) drives.push(await drive(t, fresh, kind, inVain ? SHORT_LAG_S : LAG_S[state]));
    }
  }
  const usedUp = drives[0]?.denial !== null;
  const denied: Answer[] = [];
  if (usedUp) for (const kind of KINDS) denied.push(await t.ask({ key, ...kind, intent: "denied", patient: false }));
  const sibling: Answer[] = [];
  if (usedUp) for (const kind of KINDS.slice(0, 3)) sibling.push(await t.ask({ key: "valid", ...kind }));
  const again = usedUp ? await t.ask({ key, endpoint: "chat", mode: "whole", intent: "denied", patient: false }) : null;
  return {
    before,
    batches,
    drives,
    denied,
    sibling,
    again,
    parallel: made === undefined ? null : await overshoot(t, state),
  };
}

async function kindFor(t: Probe, state: "cappable" | "childSmall"): Promise<Kind> {
  if (state === "childSmall") return { endpoint: "chat", mode: "stream" };
  const streamed = await t.ask({ endpoint: "messages", mode: "stream", intent: "odd" });
  return { endpoint: "messages", mode: streamed.admitted ? "stream" : "whole" };
}

/** Requests that fail for different reasons; a failed request costs nothing. */
async function freeBatches(t: Probe, key: Key): Promise<FreeBatch[]> {
  const large: Ask = { key, prompt: LONG_TEXT, intent: "odd", patient: false };
  const kinds: readonly { what: string; ask: Ask; possible: boolean }[] = [
    {
      what: "a failing provider",
      ask: { ...large, model: "upstreamError" },
      possible: t.target.models.upstreamError !== undefined,
    },
    { what: "an unknown model", ask: { ...large, model: "unknown" }, possible: true },
    {
      what: "a refused body",
      ask: { ...large, fields: { messages: [{ role: "user", content: LONG_TEXT }, null] } },
      possible: true,
    },
  ];
  const batches: FreeBatch[] = [];
  for (const { what, ask, possible } of kinds) {
    if (!possible) continue;
    const failures = await Promise.all(
      Array.from({ length: FAILURES }, (_, index) => t.ask({ ...ask, ...KINDS[index % KINDS.length] })),
    );
    batches.push({ what, failures, after: await t.ask({ key, endpoint: "chat", intent: "either" }) });
  }
  return batches;
}

const AT_ONCE = 16;

/** Bursts on a fresh key until one is denied whole: what parallel requests get past a limit. */
async function overshoot(
  t: Probe,
  state: "cappable" | "childSmall",
): Promise<{ served: number; atOnce: number } | null> {
  const key = await t.freshKey(`key.${state}`);
  if (key === undefined) return null;
  let served = 0;
  for (let round = 0; round < 12; round++) {
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () => t.begin({ key, endpoint: "chat", intent: "either" }).done),
    );
    served += answers.filter(({ admitted }) => admitted).length;
    if (answers.every(isSpendingDenial)) break;
    if (round > 4 && state === "cappable") await t.wait(500);
  }
  return { served, atOnce: AT_ONCE };
}
