import type { RequestSpec, Response, Session } from "../../src/checks/index.ts";
import type { Key } from "../../src/target/index.ts";
import { otherDialect } from "../shared/other-dialect.ts";
import { servable } from "../shared/servable.ts";
import { LONG_TEXT } from "../shared/texts.ts";
import {
  cutOf,
  type Drive,
  deniedAtLast,
  describeKind,
  drive,
  driveLong,
  effortFor,
  inTurnsOf,
  isSpendingDenial,
  type Kind,
  kindsOf,
} from "./drive.ts";

/** Keys that start with room and that a run may use up: a daily cap, and a lifetime budget. */
export type UsedUpState = "cappable" | "childSmall";

/** A batch of requests that end in failure, and a valid request after it. */
export type FreeBatch = {
  readonly what: string;
  readonly failures: readonly Response[];
  /** The valid request that follows; `null` where another batch comes first, to spare a key that cannot be made anew. */
  readonly after: Response | null;
  /** What as many valid requests alone do to a fresh key, where one can be made and `after` was denied. */
  readonly control: Response | null;
};

export type KeyRecording = {
  /** The key's first valid request: it must not be used up already. `null` where nothing was sent. */
  readonly before: Response | null;
  readonly batches: readonly FreeBatch[];
  readonly drives: readonly Drive[];
  /** Requests of every kind with the key that was used up. */
  readonly denied: readonly Response[];
  /** Another key of the account, while the used-up one is denied, and that one again. */
  readonly sibling: readonly Response[];
  /** The first request with a fresh key of the same state, where one can be made, of the kind that used the first one up. */
  readonly fresh: Response | null;
  readonly again: Response | null;
  /** Served of a burst in parallel on a fresh key, where one can be made; `null` otherwise. */
  readonly parallel: Overshoot | null;
  /** A burst of short requests on a fresh key, where one can be made, and what came of the key; `null` otherwise. */
  readonly burst: Burst | null;
};

/** Of a key that was not used. */
export const NOTHING: KeyRecording = {
  before: null,
  batches: [],
  drives: [],
  denied: [],
  sibling: [],
  fresh: null,
  again: null,
  parallel: null,
  burst: null,
};

/** Short requests served of a burst, what one after the other paid for, and the denial that has to follow. */
export type Burst = { readonly served: number; readonly sequential: number; readonly after: Drive["denial"] };

/** Long streams served of so many at once, and of as many as came a few at a time until the denial. */
export type Overshoot = { readonly served: number; readonly atOnce: number; readonly sequential: number };

/** How long a daily cap's tally may lag, and a little more; a budget has no such allowance. Seconds. */
export const LAG_S = { cappable: 75, childSmall: 8 } as const;
/** Once one kind of traffic has had the whole allowance in vain, the others get this much. */
const SHORT_LAG_S = 5;

/** A key that is denied after so few requests, without waiting, is denied by a tally that does not lag. */
const PROMPT = 30;

/** Expensive requests reach the limit where so few cheap ones did. */
const FEW_ENOUGH = 60;

/** After so long a used-up key is tried once more, ms. */
const REFILL_MS = 12_000;

/** Failing requests per batch: so large, and so many, that they would use up a small limit, were they charged. */
const FAILURES = 48;
/** After so long the amount reserved for a failed request is surely refunded, ms. */
const REFUND_MS = 3_000;
/** The failures that gateways most often charge for. */
const PROVIDER = "a failing provider";
/** Requests per minute of an account that has room for as many failures of each kind. */
const ROOM_RPM = 3_000;
/** A provider's time-out that is longer than this is not waited for that often, ms. */
const SHORT_TIMEOUT_MS = 4_000;

/**
 * What a small cap or budget does: failures are free, each kind of traffic counts, others of the account are unharmed.
 * With a provisioner of fresh keys each kind gets a key of its own; otherwise the one key is used up by one kind.
 */
export async function useUpKey(t: Session, state: UsedUpState): Promise<KeyRecording> {
  const made = await t.freshKey(`key.${state}`);
  // What an earlier run left of a key that the target file names is not known.
  const key = made ?? t.target.keys[state];
  if (key === undefined) throw new Error(`no key in the state ${state}`);
  const before = await t.send({ key, intent: "either" });
  // Failures are tried on one key: on the budget, which knows no lag, if there is one.
  const free = state === "childSmall" || t.target.keys.childSmall === undefined;
  const batches = before.admitted && free ? await freeBatches(t, key, state, made !== undefined) : [];
  // The static keys take the kinds that gateways forget most: streams of one dialect each.
  const own: Kind = await kindFor(t, state);
  const drives: Drive[] = [await drive(t, key, own, LAG_S[state])];
  if (made !== undefined) {
    for (const kind of kindsOf(t).filter(({ endpoint, mode }) => endpoint !== own.endpoint || mode !== own.mode)) {
      const fresh = await t.freshKey(`key.${state}`);
      const inVain = drives.some(({ denial }) => denial === null);
      const lagS = inVain ? SHORT_LAG_S : LAG_S[state];
      if (fresh !== undefined) drives.push(await drive(t, fresh, kind, lagS, effortFor(drives)));
    }
    const another = state === "childSmall" ? await t.freshKey(`key.${state}`) : undefined;
    if (another !== undefined) {
      // Where the others were denied at once there is no lag, and what the failures undo must not be made up for by waiting.
      const lags = !drives.every(({ denial, waitedS, served }) => denial !== null && waitedS === 0 && served <= PROMPT);
      drives.push(await drive(t, another, inTurnsOf(t), lags ? SHORT_LAG_S : 0, effortFor(drives)));
    }
    // As many requests as used it up when they cost less.
    const near = drives.every(({ denial, served }) => denial !== null && served <= FEW_ENOUGH);
    const last = state === "childSmall" && near ? await t.freshKey(`key.${state}`) : undefined;
    if (last !== undefined) drives.push(await drive(t, last, cutOf(t), LAG_S[state], effortFor(drives)));
    const inVain = drives.some(({ denial }) => denial === null);
    const fresh = inVain || !(await t.hasModel("stream")) ? undefined : await t.freshKey(`key.${state}`);
    if (fresh !== undefined) drives.push(await driveLong(t, fresh, LAG_S[state]));
  }
  const usedUp = drives[0]?.denial !== null;
  // The same request that the first key began with.
  const freshKey = usedUp && made !== undefined ? await t.freshKey(`key.${state}`) : undefined;
  const fresh =
    freshKey === undefined ? null : await t.send({ key: freshKey, ...own, intent: "either", repeats: false });
  const denied = usedUp ? await deniedKinds(t, key) : [];
  const sibling: Response[] = [];
  if (usedUp) for (const kind of kindsOf(t).slice(0, 3)) sibling.push(await t.send({ key: "valid", ...kind }));
  // A key that is let in again after a while was not stopped: a cap is for the day, a budget for life.
  if (usedUp) await t.wait(REFILL_MS, "a used-up key to be denied still");
  const again = usedUp ? await t.send({ key, mode: "non-streaming", intent: "denied", repeats: false }) : null;
  return {
    before,
    batches,
    drives,
    denied,
    sibling,
    fresh,
    again,
    burst: made === undefined ? null : await burst(t, state, drives),
    parallel:
      made === undefined ? null : await overshoot(t, state, drives.find(({ kind }) => kind.long === true)?.served ?? 0),
  };
}

/**
 * Requests of every kind with a key that was denied. A gateway that sets money aside for a request denies the one that it
 * cannot afford and still serves a cheaper one: what is served is driven on until it is denied, too, and all is asked again.
 */
async function deniedKinds(t: Session, key: Key): Promise<Response[]> {
  const all = async () => {
    const answers: Response[] = [];
    for (const kind of kindsOf(t)) answers.push(await t.send({ key, ...kind, intent: "denied", repeats: false }));
    return answers;
  };
  const first = await all();
  const served = kindsOf(t).filter((_, at) => first[at]?.admitted === true);
  if (served.length === 0) return first;
  for (const kind of served) {
    const { denial } = await drive(t, key, kind, SHORT_LAG_S);
    if (denial === null) return first;
  }
  // Twice, because a cap that is forgotten now and then must not get away by the first round.
  return [...(await all()), ...(await all())];
}

async function kindFor(t: Session, state: UsedUpState): Promise<Kind> {
  if (state === "childSmall") return { endpoint: t.dialect, mode: "streaming" };
  const endpoint = otherDialect(t) ?? t.dialect;
  const streamed = await t.send({ endpoint, mode: "streaming", intent: "odd" });
  return { endpoint, mode: streamed.admitted ? "streaming" : "non-streaming" };
}

/** Requests that fail for different reasons; a failed request costs nothing. Ends with the first good one that is denied. */
async function freeBatches(t: Session, key: Key, state: UsedUpState, renewable: boolean): Promise<FreeBatch[]> {
  const large: RequestSpec = { key, prompt: LONG_TEXT, intent: "odd", repeats: false };
  const kinds: { what: string; request: RequestSpec }[] = [
    { what: PROVIDER, request: { ...large, model: "upstreamError" } },
    { what: "an unknown model", request: { ...large, model: "unknown" } },
    {
      what: "a refused body",
      request: { ...large, fields: { messages: [{ role: "user", content: LONG_TEXT }, null] } },
    },
  ];
  if (await t.hasModel("upstreamTimeout")) {
    const request: RequestSpec = { ...large, model: "upstreamTimeout" };
    const first = await t.send(request);
    if (first.durationMs < SHORT_TIMEOUT_MS && first.status !== undefined)
      kinds.push({ what: "a provider that does not answer", request });
  }
  const hasRoom = (t.target.limits?.rpm ?? 0) >= ROOM_RPM;
  const plan: { what: string; request: RequestSpec; mix: readonly RequestSpec[] }[] = [];
  for (const { what, request } of kinds) {
    const mix = await servable(
      t,
      kindsOf(t).map((kind) => ({ ...request, ...kind })),
    );
    // Where the account has the room, each kind of traffic alone: what is free for three of four uses up little.
    if (!hasRoom || what !== PROVIDER) plan.push({ what, request, mix });
    else
      for (const one of mix) {
        const { endpoint, mode } = one as Kind;
        plan.push({ what: `${what} (${describeKind({ endpoint, mode })})`, request, mix: [one] });
      }
  }
  const batches: FreeBatch[] = [];
  let good = 1;
  const possible = plan.filter(({ mix }) => mix.length > 0);
  for (const [at, { what, request, mix }] of possible.entries()) {
    const failures = await Promise.all(
      Array.from({ length: FAILURES }, (_, index) => t.send({ ...request, ...mix[index % mix.length] })),
    );
    const after = renewable || at === possible.length - 1 ? await validAfter(t, key) : null;
    if (after !== null) good++;
    const denied = after !== null && isSpendingDenial(after);
    batches.push({ what, failures, after, control: denied && renewable ? await validOnly(t, state, good) : null });
    if (denied) break;
  }
  return batches;
}

/** A valid request; one that is denied comes once more: what was reserved for the failures may be refunded a moment later. */
async function validAfter(t: Session, key: Key): Promise<Response> {
  const request: RequestSpec = { key, intent: "either" };
  const first = await t.send(request);
  if (!isSpendingDenial(first)) return first;
  await t.wait(REFUND_MS, "charges to be settled");
  return t.send(request);
}

/** The last of so many valid requests on a fresh key. */
async function validOnly(t: Session, state: UsedUpState, count: number): Promise<Response | null> {
  const key = await t.freshKey(`key.${state}`);
  if (key === undefined) return null;
  let answer: Response | null = null;
  for (let sent = 0; sent < count; sent++) answer = await t.send({ key, intent: "either" });
  return answer;
}

/**
 * A burst of long streams on a fresh key, several times what the limit pays for: what parallel requests get past it.
 * Long ones, because short ones are over before the next is looked at.
 */
async function overshoot(t: Session, state: UsedUpState, sequential: number): Promise<Overshoot | null> {
  const concurrency = Math.floor((t.target.limits?.inFlight ?? 64) * 0.7);
  const atOnce = Math.min(concurrency, sequential * 3 + 12);
  if (sequential === 0 || atOnce < sequential * 2) return null;
  const key = await t.freshKey(`key.${state}`);
  if (key === undefined) return null;
  const request: RequestSpec = {
    key,
    mode: "streaming",
    model: "stream",
    prompt: LONG_TEXT,
    intent: "either",
  };
  const answers = await Promise.all(Array.from({ length: atOnce }, () => t.start(request).done));
  return { served: answers.filter(({ admitted }) => admitted).length, atOnce, sequential };
}

/** A burst pays for a key's limit so many times over; what is served of it must be enough to have passed the limit. */
const TIMES_OVER = 2;
const ENOUGH = 1.5;

/** Whether what was served of a burst must have passed the limit. */
export function passedTheLimit({ served, sequential }: Pick<Burst, "served" | "sequential">): boolean {
  return served >= sequential * ENOUGH;
}

/**
 * Short requests at once on a fresh key, several times what the limit pays for. How many of them are served is the tally's
 * lag; that they count in the end is not.
 */
async function burst(t: Session, state: UsedUpState, drives: readonly Drive[]): Promise<Burst | null> {
  const model = drives.find(({ kind, denial, served }) => kind.long !== true && denial !== null && served > 0);
  if (model === undefined) return null;
  const { kind, served: sequential } = model;
  const concurrency = Math.floor((t.target.limits?.inFlight ?? 64) * 0.7);
  const atOnce = sequential * TIMES_OVER + 4;
  const key = atOnce > concurrency ? undefined : await t.freshKey(`key.${state}`);
  if (key === undefined) return null;
  const request: RequestSpec = { key, endpoint: kind.endpoint, mode: kind.mode, intent: "either", repeats: false };
  const answers = await Promise.all(Array.from({ length: atOnce }, () => t.start(request).done));
  const served = answers.filter(({ admitted }) => admitted).length;
  const denial = answers.find(isSpendingDenial);
  if (denial !== undefined || !passedTheLimit({ served, sequential }))
    return { served, sequential, after: denial ?? null };
  return { served, sequential, after: (await deniedAtLast(t, request, LAG_S[state])).denial };
}
