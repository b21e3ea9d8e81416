import type { RequestSpec, Response, Session } from "../../src/checks/index.ts";
import type { Limits } from "../../src/target/index.ts";
import { retryAfterWaitMs } from "../shared/retry-after-wait.ts";
import { admittedIn, type Burst, burst, isRateDenial, isRefused } from "./burst.ts";
import { type OtherAccount, sendToOtherAccounts } from "./other-accounts.ts";
import { paced, QUIET_MS } from "./paced.ts";
import {
  kindsOf,
  ROUNDS,
  sendPlain,
  sendPlainAtOnce,
  sendPlainUpTo,
  triesWhileDenied,
  tryLater,
  type WhileDenied,
} from "./while-denied.ts";

/** One promise of a denial and what became of it. */
export type TestedWait = {
  readonly denial: Response;
  /** Wait that the denial asked for, ms; `null` when it gave no usable one, or one that was too long to wait for. */
  readonly waitMs: number | null;
  readonly retried: Response;
};

export type RateRecording = {
  readonly limits: { readonly rpm: number; readonly inFlight: number };
  readonly first: Burst;
  readonly whileDenied: readonly WhileDenied[];
  /** The same again a quarter of a minute later, where the denials said that the account stays denied so long. */
  readonly laterDenied: readonly WhileDenied[];
  /** Denied many times at once. */
  readonly extraBurst: readonly Response[];
  readonly others: readonly OtherAccount[];
  readonly firstWait: TestedWait | null;
  /** The promise that ended the second burst, of the other key and dialect. */
  readonly secondWait: TestedWait | null;
  /** The promise of another kind of request, where it was much shorter. */
  readonly shortestWait: TestedWait | null;
  readonly second: Burst | null;
  /** Bursts of one kind of request that were to reach the limit again, and met no denial. */
  readonly undenied: readonly Burst[];
  /** A repetition of the burst that let too much through, when only one did. */
  readonly third: Burst | null;
  /** Evenly paced requests below the limit, when the first burst was denied early. */
  readonly paced: readonly Response[];
};

/** A wait that leaves room for requests later in it, ms. */
const LONG_WAIT_MS = 25_000;

/** A wait beyond this is longer than any one-minute rate can ask for. */
const LONGEST_WAIT_MS = 65_000;
/** A hint that is longer is right, or as good as, wherever a rate is one of a minute, ms. */
const TELLING_WAIT_MS = 45_000;
/** A rest of the minute that is worth waiting for, ms. */
const SHORT_REST_MS = 12_000;
/** Bursts closer together than this cannot both find a minute's limit, ms, give or take this share of it. */
const EARLY_MS = 55_000;
const EARLY_SLACK = 0.15;
/** Share of the limit at which evenly paced traffic must pass. */
const SAFE_SHARE = 0.8;

/**
 * One minute of overload on an account, arranged so that it decides as much as possible: a burst of one key and dialect
 * up to the first denial; then, while denied, every other kind of request; the promise of the last denial; a second burst
 * of the other dialect and key.
 */
export async function rateScenario(t: Session): Promise<RateRecording> {
  const account = t.limited("rate");
  const { limits, key } = account;
  const second = account.second ?? key;
  if (account.shared) await t.wait(QUIET_MS);
  const plan = { most: limits.rpm * 2 + 2, parallel: Math.max(1, Math.min(8, limits.inFlight - 1)) };
  const chat: RequestSpec[] = [
    { key, endpoint: "chat" },
    { key, endpoint: "chat", mode: "streaming" },
  ];
  const first = await burst(t, { ...plan, what: "chat, one key", asks: chat });
  const nothing = {
    limits,
    first,
    whileDenied: [],
    laterDenied: [],
    extraBurst: [],
    others: [],
    firstWait: null,
    secondWait: null,
    shortestWait: null,
    second: null,
    undenied: [],
    third: null,
    paced: [],
  };
  if (!first.answers.some(isRefused)) return nothing;

  const undenied: Burst[] = [];
  const toTheLimit = async (): Promise<Burst> => {
    const again = await burst(t, { ...plan, what: "to the limit again, chat, one key", asks: chat.slice(0, 1) });
    if (!again.answers.some(isRefused)) undenied.push(again);
    return again;
  };
  const kinds = await kindsOf(t, account);
  const whileDenied = await triesWhileDenied(t, key, kinds, toTheLimit);
  const [extraBurst, others] = await Promise.all([
    sendPlainAtOnce(t, key, Math.max(1, Math.min(6, limits.inFlight))),
    sendToOtherAccounts(t, account, { tries: 3, again: { key, endpoint: "chat" } }),
  ]);
  const latest = [...first.answers, ...extraBurst].findLast(isRateDenial);
  const waitMs = latest === undefined ? undefined : retryAfterWaitMs(latest);
  const laterDenied = (waitMs ?? 0) < LONG_WAIT_MS ? [] : await tryLater(t, account, plan.parallel);
  const denial = await denialNow(t, key, toTheLimit);
  const isEarly = admittedIn(first.answers) < limits.rpm * SAFE_SHARE;
  if (denial === null)
    return {
      ...nothing,
      whileDenied,
      laterDenied,
      extraBurst,
      others,
      undenied,
      paced: isEarly ? await paced(t, chat, limits.rpm * SAFE_SHARE) : [],
    };

  const shortestWait = await testShortestWait(t, denial, whileDenied, kinds);
  if (laterDenied.length > 0) await sendPlainUpTo(t, account, plan.parallel);
  const asItStands = shortestWait === null && laterDenied.length === 0;
  const last = asItStands ? denial : await sendPlain(t, key);
  const firstWait = await waitAndRetry(t, isRateDenial(last) ? last : denial, { key, endpoint: "chat" });
  if (isRateDenial(firstWait.retried)) await t.wait(QUIET_MS);
  // A window that is nearly over is waited for to its end, so that the second burst meets an empty one.
  const restMs = endedMs(first) + QUIET_MS - t.nowUs() / 1_000;
  if (restMs > 0 && restMs < SHORT_REST_MS) await t.wait(restMs);
  const onMessages: RequestSpec = { key: second, endpoint: "messages" };
  const messages: RequestSpec[] = [onMessages, { ...onMessages, mode: "streaming" }];
  const mixed = (await streamsMessages(t, whileDenied)) ? messages : messages.slice(0, 1);
  const next = await burst(t, { ...plan, what: "messages, other key", asks: mixed });
  const lastDenial = await afterwards(t, next, onMessages);
  // A hint of nearly a minute cannot be much too short.
  const isTelling =
    lastDenial !== undefined && (retryAfterWaitMs(lastDenial) ?? Number.POSITIVE_INFINITY) <= TELLING_WAIT_MS;
  const secondWait = isTelling ? await waitAndRetry(t, lastDenial, onMessages) : null;
  const suspicious = [first, next].filter((run) => tooMany(run, limits));
  const [once] = refilledEarly(first, next, limits) ? [first] : suspicious;
  let third: Burst | null = null;
  if (once !== undefined && suspicious.length < 2) {
    if (secondWait === null)
      await waitAndRetry(t, lastDenial ?? denial, once === first ? { key, endpoint: "chat" } : onMessages);
    third = await burst(t, { ...plan, what: once.what, asks: once === first ? chat : mixed });
  }
  const early = [first, ...(startedMs(next) - endedMs(first) >= QUIET_MS - 1_000 ? [next] : [])].filter(
    ({ answers }) => admittedIn(answers) < limits.rpm * SAFE_SHARE - 1,
  );
  const mix = early.flatMap((run) => (run === first ? chat : mixed));
  const evenly = early.length > 0 ? await paced(t, mix, limits.rpm * SAFE_SHARE) : [];
  return {
    limits,
    first,
    whileDenied,
    laterDenied,
    extraBurst,
    others,
    firstWait,
    secondWait,
    shortestWait,
    second: next,
    undenied,
    third,
    paced: evenly,
  };
}

/** A denial that nothing of the burst followed any more; of the burst itself where it is over already. */
async function afterwards(t: Session, { answers }: Burst, request: RequestSpec): Promise<Response | undefined> {
  const denial = answers.findLast(isRateDenial);
  if (denial === undefined) return undefined;
  const next = await t.start({ ...request, intent: "either" }).done;
  return isRateDenial(next) ? next : denial;
}

/** A denial for the rate of this moment; the account is brought to its limit again if need be. */
async function denialNow(
  t: Session,
  key: RequestSpec["key"] & {},
  toTheLimit: () => Promise<Burst>,
): Promise<Response | null> {
  for (let round = 0; round < ROUNDS; round++) {
    const answer = await sendPlain(t, key);
    if (isRateDenial(answer)) return answer;
    const { answers } = await toTheLimit();
    const denied = answers.findLast(isRateDenial);
    if (denied !== undefined) return denied;
    if (!answers.some(isRefused)) return null;
  }
  return null;
}

/** More than any window lets through from quiet, save the one fixed window whose edge lies inside the burst. */
export function tooMany({ answers, seconds }: Burst, { rpm }: Limits): boolean {
  return admittedIn(answers) > rpm + 1 + Math.ceil((seconds * rpm) / 60);
}

/**
 * Whether the second burst was let through before a minute could have refilled what the first used up. The edge of one
 * fixed window between them explains it once, not twice in a row.
 */
export function refilledEarly(first: Burst, second: Burst, { rpm }: Limits): boolean {
  const betweenMs = startedMs(second) - startedMs(first);
  if (betweenMs > EARLY_MS || admittedIn(first.answers) < rpm * SAFE_SHARE) return false;
  return admittedIn(second.answers) > (rpm * (betweenMs / 1_000 + second.seconds)) / 60 + rpm * EARLY_SLACK + 2;
}

function startedMs({ answers }: Burst): number {
  return Math.min(...answers.map(({ exchange }) => exchange.timeline.dueUs)) / 1_000;
}

function endedMs({ answers }: Burst): number {
  return Math.max(...answers.map(({ exchange }) => exchange.timeline.endUs)) / 1_000;
}

/** Whether the other dialect streams at all, which is not promised: a refusal may stand behind every denial. */
async function streamsMessages(t: Session, whileDenied: readonly WhileDenied[]): Promise<boolean> {
  const tries = whileDenied.find(({ kind }) => kind === "messages streams")?.tries ?? [];
  const unlimited = await t.start({ endpoint: "messages", mode: "streaming", intent: "either" }).done;
  const isCallersError = ({ status = 0 }: Response) => status >= 400 && status < 500 && status !== 429;
  return ![...tries, unlimited].some(isCallersError);
}

/** Waits as the denial says, counted from its arrival, and sends one request. */
async function waitAndRetry(t: Session, denial: Response, request: RequestSpec): Promise<TestedWait> {
  const { timeline } = denial.exchange;
  const waitMs = retryAfterWaitMs(denial);
  const usable = waitMs !== undefined && waitMs <= LONGEST_WAIT_MS;
  const elapsedMs = (t.nowUs() - timeline.endUs) / 1_000;
  await t.wait(Math.max(0, (usable ? waitMs : QUIET_MS) - elapsedMs));
  return { denial, waitMs: usable ? waitMs : null, retried: await t.start({ ...request, intent: "either" }).done };
}

/** A hint that is less than this share of the first key's hint at about the same time is put to the test by itself. */
const MUCH_SHORTER = 0.5;
const TESTED_WAIT_MS = 6_000;

/** Keeps the promise of a kind of request that is told to come back much sooner than the first key's plain request. */
async function testShortestWait(
  t: Session,
  denial: Response,
  whileDenied: readonly WhileDenied[],
  kinds: Readonly<Record<string, RequestSpec>>,
): Promise<TestedWait | null> {
  const usual = retryAfterWaitMs(denial) ?? Number.POSITIVE_INFINITY;
  const found = whileDenied
    .flatMap(({ kind, tries }) =>
      tries.filter(isRateDenial).map((answer) => ({ kind, waitMs: retryAfterWaitMs(answer) })),
    )
    .filter(({ waitMs }) => waitMs !== undefined && waitMs < usual * MUCH_SHORTER && waitMs <= TESTED_WAIT_MS)
    .sort((a, b) => (a.waitMs ?? 0) - (b.waitMs ?? 0))[0];
  const request = found === undefined ? undefined : kinds[found.kind];
  if (request === undefined) return null;
  const fresh = await t.start({ ...request, intent: "either" }).done;
  return isRateDenial(fresh) && (retryAfterWaitMs(fresh) ?? TESTED_WAIT_MS + 1) <= TESTED_WAIT_MS
    ? waitAndRetry(t, fresh, request)
    : null;
}
