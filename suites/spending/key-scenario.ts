import type { RequestSpec, Response, Session } from "../../src/checks/index.ts";
import type { Key } from "../../src/target/index.ts";
import { otherDialect } from "../shared/cases/other-dialect.ts";
import { servable } from "../shared/cases/servable.ts";
import { LONG_TEXT } from "../shared/requests/texts.ts";
import {
  cutOf,
  type Drive,
  describeKind,
  drive,
  driveLong,
  effortFor,
  inTurnsOf,
  isSpendingDenial,
  type Kind,
  kindsOf,
  LAG_S,
  type UsedUpState,
} from "./drive.ts";
import { type Burst, burst, type Overshoot, overshoot } from "./key-bursts.ts";
import { type Spelled, sendSpelled } from "./spelled.ts";

/** A batch of requests that end in failure, and a valid request after it. */
export type FreeBatch = {
  readonly what: string;
  readonly failures: readonly Response[];
  /** The valid request that follows; `null` if another batch is sent first, to spare a key that cannot be replaced. */
  readonly after: Response | null;
  /** What the same number of valid requests alone does to a fresh key, if the key is renewable and `after` was denied. */
  readonly control: Response | null;
};

export type KeyRecording = {
  /** The key's first valid request: the key must not be used up already. `null` if nothing was sent. */
  readonly before: Response | null;
  readonly batches: readonly FreeBatch[];
  readonly drives: readonly Drive[];
  /** Requests of every kind with the used-up key. */
  readonly denied: readonly Response[];
  /** Why a kind that was still served then is inconclusive; `null` if none was served. */
  readonly open: string | null;
  /** The used-up key in other spellings. */
  readonly spelled: readonly Spelled[];
  /** Another key of the account while the used-up one is denied, and the used-up one again. */
  readonly sibling: readonly Response[];
  /**
   * The first request with a fresh key of the same state, of the kind that used the first key up; `null` if keys are not
   * renewable.
   */
  readonly fresh: Response | null;
  readonly again: Response | null;
  /** Requests served in a concurrent burst on a fresh key; `null` if keys are not renewable. */
  readonly parallel: Overshoot | null;
  /** A burst of short requests on a fresh key, and what happened to the key; `null` if keys are not renewable. */
  readonly burst: Burst | null;
};

/** The recording of an unused key. */
export const NOTHING: KeyRecording = {
  before: null,
  batches: [],
  drives: [],
  denied: [],
  open: null,
  spelled: [],
  sibling: [],
  fresh: null,
  again: null,
  parallel: null,
  burst: null,
};

/** Once one kind of traffic has used the whole allowance without a denial, the others get this much. */
const SHORT_LAG_S = 5;

/** If a key is denied after at most this many requests, without waiting, its tally does not lag. */
const PROMPT = 30;

/** Expensive requests reach the limit if at most this many cheap ones did. */
const FEW_ENOUGH = 60;

/** After this time a used-up key is tried once more, ms. */
const REFILL_MS = 12_000;

/** Failing requests per batch, and their size: enough to use up a small limit if they were charged. */
const FAILURES = 48;
/** After this time the amount reserved for a failed request is certainly refunded, ms. */
const REFUND_MS = 3_000;
/** The failures that gateways charge for most often. */
const PROVIDER = "a failing provider";
/** Requests per minute of an account that has room for this many failures of each kind. */
const ROOM_RPM = 3_000;
/** A provider timeout longer than this is too slow to wait for that often, ms. */
const SHORT_TIMEOUT_MS = 4_000;

/**
 * How a small cap or budget behaves: failures are free, each kind of traffic counts, other keys of the account are unaffected.
 * With a provisioner of fresh keys each kind gets its own key; otherwise one kind uses up the only key.
 */
export async function useUpKey(t: Session, state: UsedUpState): Promise<KeyRecording> {
  const made = await t.freshKey(`key.${state}`);
  // What an earlier run left on a key of the target file is unknown.
  const key = made ?? t.target.keys[state];
  if (key === undefined) throw new Error(`no key in the state ${state}`);
  const before = await t.send({ key, intent: "either" });
  // Failures are tested on one key: the one with the budget, which has no lag, if there is one.
  const free = state === "childSmall" || t.target.keys.childSmall === undefined;
  // A key that cannot be replaced must be tested before it is used up.
  if (free && made === undefined) await t.afterOthers();
  let batches = before.admitted && free && made === undefined ? await freeBatches(t, key, state, false) : [];
  // The static keys get the kinds that gateways forget most often: streams of one dialect each.
  const own: Kind = await kindFor(t, state);
  const drives: Drive[] = [await drive(t, key, own, LAG_S[state])];
  if (made !== undefined) {
    for (const kind of kindsOf(t).filter(({ endpoint, mode }) => endpoint !== own.endpoint || mode !== own.mode)) {
      const fresh = await t.freshKey(`key.${state}`);
      const neverDenied = drives.some(({ denial, stoppedBecause }) => denial === null && stoppedBecause === null);
      const lagS = neverDenied ? SHORT_LAG_S : LAG_S[state];
      if (fresh !== undefined) drives.push(await drive(t, fresh, kind, lagS, effortFor(drives)));
    }
    // As many requests as used it up when they were cheaper.
    const near = drives.every(({ denial, served }) => denial !== null && served <= FEW_ENOUGH);
    const last = state === "childSmall" && near ? await t.freshKey(`key.${state}`) : undefined;
    if (last !== undefined) drives.push(await drive(t, last, cutOf(t), LAG_S[state], effortFor(drives)));
    const isAnyNeverDenied = drives.some(({ denial }) => denial === null);
    const fresh = isAnyNeverDenied || !(await t.hasModel("stream")) ? undefined : await t.freshKey(`key.${state}`);
    if (fresh !== undefined) drives.push(await driveLong(t, fresh, LAG_S[state]));
  }
  const usedUp = drives[0]?.denial !== null;
  // The same request that the first key started with.
  const freshKey = usedUp && made !== undefined ? await t.freshKey(`key.${state}`) : undefined;
  const fresh =
    freshKey === undefined ? null : await t.send({ key: freshKey, ...own, intent: "either", repeats: false });
  const { denied, open } = usedUp ? await deniedKinds(t, key, LAG_S[state]) : NOTHING;
  const isDenied = denied.length > 0 && !denied.some(({ admitted }) => admitted);
  const spelled = isDenied ? await sendSpelled(t, key, own, LAG_S[state]) : [];
  const sibling: Response[] = [];
  if (usedUp) for (const kind of kindsOf(t).slice(0, 3)) sibling.push(await t.send({ key: "valid", ...kind }));
  // A key that is accepted again after a while was not stopped: a cap lasts a day, a budget for ever.
  if (usedUp) await t.wait(REFILL_MS, "a used-up key to be denied still");
  const again = usedUp ? await t.send({ key, mode: "non-streaming", intent: "denied", repeats: false }) : null;
  const longDrive = drives.find(({ kind }) => kind.long === true);
  const bursts = {
    burst: made === undefined ? null : await burst(t, state, drives),
    parallel: made === undefined ? null : await overshoot(t, state, longDrive?.served ?? 0),
  };
  if (made !== undefined && before.admitted && free) {
    await t.afterOthers();
    if (state === "childSmall") drives.push(...(await driveInTurns(t, state, drives)));
    batches = await freeBatchesOnOwnKey(t, state);
  }
  return { before, batches, drives, denied, open, spelled, sibling, fresh, again, ...bursts };
}

/** Valid requests and upstream failures, alternately, on a separate key. */
async function driveInTurns(t: Session, state: UsedUpState, drives: readonly Drive[]): Promise<Drive[]> {
  const key = await t.freshKey(`key.${state}`);
  if (key === undefined) return [];
  // If the other keys were denied immediately, the tally has no lag. Waiting would only hide the effect of the failures.
  const lags = !drives.every(({ denial, waitedS, served }) => denial !== null && waitedS === 0 && served <= PROMPT);
  return [await drive(t, key, inTurnsOf(t), lags ? SHORT_LAG_S : 0, effortFor(drives))];
}

async function freeBatchesOnOwnKey(t: Session, state: UsedUpState): Promise<FreeBatch[]> {
  const key = await t.freshKey(`key.${state}`);
  if (key === undefined || !(await t.send({ key, intent: "either" })).admitted) return [];
  return freeBatches(t, key, state, true);
}

/**
 * Requests of every kind with a denied key. A gateway that reserves money for a request denies one that it cannot afford and
 * still serves a cheaper one, and one of several nodes may learn of the denial later than another. So a kind that is still served
 * is repeated until it is denied, too, and then all kinds are sent again.
 */
async function deniedKinds(t: Session, key: Key, lagS: number): Promise<Pick<KeyRecording, "denied" | "open">> {
  const all = async () => {
    const responses: Response[] = [];
    for (const kind of kindsOf(t)) responses.push(await t.send({ key, ...kind, intent: "denied", repeats: false }));
    return responses;
  };
  const first = await all();
  const served = kindsOf(t).filter((_, at) => first[at]?.admitted === true);
  if (served.length === 0) return { denied: first, open: null };
  for (const kind of served) {
    const { denial, stoppedBecause } = await drive(t, key, kind, lagS);
    if (stoppedBecause !== null)
      return {
        denied: first.filter(({ admitted }) => !admitted),
        open: `${describeKind(kind)}: stopped early, because ${stoppedBecause}`,
      };
    if (denial === null) return { denied: first, open: null };
  }
  // Twice, because the first round may miss a cap that is only enforced most of the time.
  return { denied: [...(await all()), ...(await all())], open: null };
}

async function kindFor(t: Session, state: UsedUpState): Promise<Kind> {
  if (state === "childSmall") return { endpoint: t.dialect, mode: "streaming" };
  const endpoint = otherDialect(t) ?? t.dialect;
  const streamed = await t.send({ endpoint, mode: "streaming", intent: "odd" });
  return { endpoint, mode: streamed.admitted ? "streaming" : "non-streaming" };
}

/** Requests that fail for different reasons; a failed request costs nothing. Ends with the first valid one that is denied. */
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
      kinds.push({ what: "a provider that does not respond", request });
  }
  const hasRoom = (t.target.limits?.rpm ?? 0) >= ROOM_RPM;
  const plan: { what: string; request: RequestSpec; mix: readonly RequestSpec[] }[] = [];
  for (const { what, request } of kinds) {
    const mix = await servable(
      t,
      kindsOf(t).map((kind) => ({ ...request, ...kind })),
    );
    // If the account has room, each kind of traffic alone: a mix of which three quarters are free uses up little.
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

/**
 * A valid request. If it is denied, it is sent once more: the amount reserved for the failures may be refunded a moment later.
 */
async function validAfter(t: Session, key: Key): Promise<Response> {
  const request: RequestSpec = { key, intent: "either" };
  const first = await t.send(request);
  if (!isSpendingDenial(first)) return first;
  await t.wait(REFUND_MS, "charges to be settled");
  return t.send(request);
}

/** The last of `count` valid requests on a fresh key. */
async function validOnly(t: Session, state: UsedUpState, count: number): Promise<Response | null> {
  const key = await t.freshKey(`key.${state}`);
  if (key === undefined) return null;
  let response: Response | null = null;
  for (let sent = 0; sent < count; sent++) response = await t.send({ key, intent: "either" });
  return response;
}
