import {
  defineScenario,
  type LimitedAccount,
  limitedFor,
  type RequestSpec,
  type Response,
  type Session,
  scheduleOn,
} from "../../../src/checks/index.ts";
import { WINDOW_OVER_MS } from "../../../src/limits/index.ts";
import { expectedDenial } from "../../shared/expected-denial.ts";
import type { ExpectedDenial } from "../../shared/judge-denial.ts";
import { otherDialect } from "../../shared/other-dialect.ts";
import { spellingsOf } from "../../shared/spellings.ts";
import { type Burst, burst, endedMs, exceedsLimit, refilledEarly, startedMs } from "../burst.ts";
import { admittedIn, isRateDenial, isRefused } from "../denials.ts";
import { type OtherAccount, sendToOtherAccounts } from "../other-accounts.ts";
import { A_WINDOW, paced, untilQuiet } from "../paced.ts";
import { sendPlain, sendPlainAtOnce } from "../send.ts";
import { type TestedWait, testShortestWait, waitAndRetry } from "./tested-wait.ts";
import { kindsOf, ROUNDS, sendPlainUpTo, triesWhileDenied, tryLater, type WhileDenied } from "./while-denied.ts";

export type RateRecording = {
  readonly limits: { readonly rpm: number; readonly inFlight: number };
  readonly expected: ExpectedDenial;
  /** One key, chat, up to the first denial. */
  readonly first: Burst;
  /** Every other kind of request, while the account was denied. */
  readonly whileDenied: readonly WhileDenied[];
  /** The same a quarter of a minute later, if the denials requested a wait that long. */
  readonly laterDenied: readonly WhileDenied[];
  /** The first key in other spellings, while the account was denied; none in a quick run. */
  readonly spelled: readonly WhileDenied[];
  /** Many concurrent requests, while the account was denied. */
  readonly extraBurst: readonly Response[];
  readonly others: readonly OtherAccount[];
  readonly firstWait: TestedWait | null;
  /** The wait at the end of the second burst, with the other key and dialect. */
  readonly secondWait: TestedWait | null;
  /** The wait of another kind of request, if it was much shorter. */
  readonly shortestWait: TestedWait | null;
  /** The other key, messages, as soon as the first wait was over. */
  readonly second: Burst | null;
  /** Bursts of one kind of request that should have reached the limit again and met no denial. */
  readonly undenied: readonly Burst[];
  /** A repetition of the burst that admitted too much, if only one did. */
  readonly third: Burst | null;
  /** Evenly paced requests below the limit, if a burst was denied early. */
  readonly paced: readonly Response[];
};

/** A wait that leaves time to send requests later in it, ms. */
const LONG_WAIT_MS = 25_000;
/** A longer wait is sufficient, or nearly so, with any one-minute window, ms. */
const TELLING_WAIT_MS = 45_000;
/** Time for a window to release a slow burst, ms. */
const MAX_BURST_MS = 5_000;
/** A remainder of the minute short enough to wait for, ms. */
const SHORT_REST_MS = 12_000;
/** Share of the limit at which evenly paced traffic must be admitted. */
const SAFE_SHARE = 0.8;

/**
 * One minute of overload on the account with the lowest rate. All rate checks share this scenario: it costs a minute, and its
 * bursts, waits and denials are evidence for many requirements.
 */
export const rateScenario = defineScenario({
  id: "limits.rate",
  needs: ["limited.rate"],
  schedule: (target) => scheduleOn(limitedFor(target, "rate")),
  // Two bursts to the limit, a third if one admitted too much, and what is sent while the account is denied.
  cost: {
    requests: (target) => Math.ceil(2.5 * (limitedFor(target, "rate")?.limits.rpm ?? 0)) + 170,
    waitS: 62,
    quick: { requests: (target) => Math.ceil(2.5 * (limitedFor(target, "rate")?.limits.rpm ?? 0)) + 60, waitS: 5 },
  },
  reaches: "rate",
  async run(t): Promise<RateRecording> {
    const run = await reachLimit(t);
    const { limits, first, undenied } = run;
    const recording = { ...NOTHING_ELSE, limits, first, undenied, expected: expectedDenial(t, "rate_limit_exceeded") };
    if (!first.responses.some(isRefused)) return recording;
    const { kinds, ...denied } = await sendWhileDenied(run);
    if (t.isQuick) return { ...recording, ...denied };
    const denial = await denialNow(run);
    if (denial === null)
      return { ...recording, ...denied, paced: await paceWhereEarly(run, [first], limits.rpm * SAFE_SHARE) };
    const waits = await testWaits(run, denial, denied, kinds);
    const again = await reachLimitAgain(run, denied.whileDenied);
    const third = await repeatExcess(run, again, denial);
    const { second, secondWait } = again;
    const fromQuiet = startedMs(second) - endedMs(first) >= WINDOW_OVER_MS - 1_000 ? [first, second] : [first];
    const evenly = await paceWhereEarly({ ...run, messages: again.messages }, fromQuiet, limits.rpm * SAFE_SHARE - 1);
    return { ...recording, ...denied, ...waits, second, secondWait, third, paced: evenly };
  },
});

const NOTHING_ELSE = {
  whileDenied: [],
  laterDenied: [],
  spelled: [],
  extraBurst: [],
  others: [],
  firstWait: null,
  secondWait: null,
  shortestWait: null,
  second: null,
  third: null,
  paced: [],
} as const;

/** State shared by the steps. */
interface RateRun {
  readonly t: Session;
  readonly account: LimitedAccount;
  readonly limits: LimitedAccount["limits"];
  readonly plan: { readonly most: number; readonly parallel: number };
  readonly chat: readonly RequestSpec[];
  /** Requests of the second burst. */
  readonly messages: readonly RequestSpec[];
  readonly first: Burst;
  readonly undenied: Burst[];
}

async function reachLimit(t: Session): Promise<RateRun> {
  const account = t.limited("rate");
  const { limits, key } = account;
  await untilQuiet(t, key);
  const plan = { most: limits.rpm * 2 + 2, parallel: Math.max(1, Math.min(8, limits.inFlight - 1)) };
  const chat: RequestSpec[] = [{ key }, { key, mode: "streaming" }];
  const first = await burst(t, { ...plan, what: `${t.dialect}, one key`, specs: chat });
  return { t, account, limits, plan, chat, messages: [], first, undenied: [] };
}

/** Brings a denied account to its limit again; a burst that met no denial is recorded. */
async function toTheLimit({ t, plan, chat, undenied }: RateRun): Promise<Burst> {
  const again = await burst(t, { ...plan, what: `to the limit again, ${t.dialect}, one key`, specs: chat.slice(0, 1) });
  if (!again.responses.some(isRefused)) undenied.push(again);
  return again;
}

type DeniedPart = Pick<RateRecording, "whileDenied" | "laterDenied" | "spelled" | "extraBurst" | "others">;

async function sendWhileDenied(run: RateRun): Promise<DeniedPart & { kinds: Record<string, RequestSpec> }> {
  const { t, account, limits, plan, first } = run;
  const { key } = account;
  const kinds = await kindsOf(t, account);
  const whileDenied = await triesWhileDenied(t, key, kinds, () => toTheLimit(run));
  const spelled = t.isQuick ? [] : await triesWhileDenied(t, key, spellingsOf(key), () => toTheLimit(run));
  const [extraBurst, others] = await Promise.all([
    sendPlainAtOnce(t, key, Math.max(1, Math.min(6, limits.inFlight))),
    sendToOtherAccounts(t, account, { tries: 3, again: { key } }),
  ]);
  const latest = [...first.responses, ...extraBurst].findLast(isRateDenial);
  const waitMs = latest?.retryAfterWaitMs;
  const laterDenied = t.isQuick || (waitMs ?? 0) < LONG_WAIT_MS ? [] : await tryLater(t, account, plan.parallel);
  return { kinds, whileDenied, laterDenied, spelled, extraBurst, others };
}

/** A rate denial at this moment; brings the account to its limit again if necessary. */
async function denialNow(run: RateRun): Promise<Response | null> {
  for (let round = 0; round < ROUNDS; round++) {
    const response = await sendPlain(run.t, run.account.key);
    if (isRateDenial(response)) return response;
    const { responses } = await toTheLimit(run);
    const denied = responses.findLast(isRateDenial);
    if (denied !== undefined) return denied;
    if (!responses.some(isRefused)) return null;
  }
  return null;
}

async function testWaits(
  { t, account, plan }: RateRun,
  denial: Response,
  { whileDenied, laterDenied }: DeniedPart,
  kinds: Readonly<Record<string, RequestSpec>>,
): Promise<{ firstWait: TestedWait; shortestWait: TestedWait | null }> {
  const { key } = account;
  const shortestWait = await testShortestWait(t, denial, whileDenied, kinds);
  if (laterDenied.length > 0) await sendPlainUpTo(t, account, plan.parallel);
  const isLatest = shortestWait === null && laterDenied.length === 0;
  const last = isLatest ? denial : await sendPlain(t, key);
  const firstWait = await waitAndRetry(t, isRateDenial(last) ? last : denial, { key });
  if (isRateDenial(firstWait.retried)) await t.wait(WINDOW_OVER_MS, A_WINDOW);
  return { firstWait, shortestWait };
}

interface SecondBurst {
  readonly second: Burst;
  readonly secondWait: TestedWait | null;
  readonly messages: readonly RequestSpec[];
  readonly lastDenial: Response | undefined;
}

/** The burst with the other key and dialect, and the wait that its denial asks for. */
async function reachLimitAgain(run: RateRun, whileDenied: readonly WhileDenied[]): Promise<SecondBurst> {
  const { t, account, plan, first } = run;
  // Wait for the end of a window that is nearly over, so that the second burst meets an empty one.
  const restMs = endedMs(first) + WINDOW_OVER_MS - t.nowUs() / 1_000;
  if (restMs > 0 && restMs < SHORT_REST_MS) await t.wait(restMs, A_WINDOW);
  // A sliding window frees the capacity of a slow burst as slowly as the burst took it.
  else if (restMs > 0) await t.wait(Math.min(first.seconds * 1_000, MAX_BURST_MS));
  // If only one dialect is served, the other key alone.
  const endpoint = otherDialect(t) ?? t.dialect;
  const onMessages: RequestSpec = { key: account.second ?? account.key, endpoint };
  const both: RequestSpec[] = [onMessages, { ...onMessages, mode: "streaming" }];
  const messages = (await streamsMessages(t, whileDenied)) ? both : both.slice(0, 1);
  const second = await burst(t, { ...plan, what: `${endpoint}, other key`, specs: messages });
  const lastDenial = await lastDenialOf(t, second, onMessages);
  // A wait of nearly a minute cannot be much too short.
  const isTelling =
    lastDenial !== undefined && (lastDenial.retryAfterWaitMs ?? Number.POSITIVE_INFINITY) <= TELLING_WAIT_MS;
  const secondWait = isTelling ? await waitAndRetry(t, lastDenial, onMessages) : null;
  return { second, secondWait, messages, lastDenial };
}

/** Repeats the burst that admitted too much, if only one did: the boundary of a fixed window explains one. */
async function repeatExcess(run: RateRun, again: SecondBurst, denial: Response): Promise<Burst | null> {
  const { t, limits, plan, first, chat, account } = run;
  const { second, secondWait, messages, lastDenial } = again;
  const excessive = [first, second].filter((one) => exceedsLimit(one, limits));
  const [once] = refilledEarly(first, second, limits) ? [first] : excessive;
  if (once === undefined || excessive.length === 2) return null;
  const isFirst = once === first;
  const [onMessages = {}] = messages;
  if (secondWait === null) await waitAndRetry(t, lastDenial ?? denial, isFirst ? { key: account.key } : onMessages);
  return burst(t, { ...plan, what: once.what, specs: isFirst ? chat : messages });
}

/** Paces the requests of bursts that were denied early: a limiter with little burst must admit these. */
async function paceWhereEarly(run: RateRun, bursts: readonly Burst[], least: number): Promise<Response[]> {
  const early = bursts.filter(({ responses }) => admittedIn(responses) < least);
  const specs = early.flatMap((one) => (one === run.first ? run.chat : run.messages));
  return early.length > 0 ? paced(run.t, specs, run.limits.rpm * SAFE_SHARE) : [];
}

/** A denial after all requests of the burst, or one of the burst itself if the limit is no longer in effect. */
async function lastDenialOf(t: Session, { responses }: Burst, request: RequestSpec): Promise<Response | undefined> {
  const denial = responses.findLast(isRateDenial);
  if (denial === undefined) return undefined;
  const next = await t.start({ ...request, intent: "either" }).done;
  return isRateDenial(next) ? next : denial;
}

/** Whether the other dialect streams at all, which the specification leaves open: any denial may hide a refusal. */
async function streamsMessages(t: Session, whileDenied: readonly WhileDenied[]): Promise<boolean> {
  const tries = whileDenied.find(({ kind }) => kind === "messages streams")?.tries ?? [];
  const unlimited = await t.start({ endpoint: otherDialect(t) ?? t.dialect, mode: "streaming", intent: "either" }).done;
  const isCallersError = ({ status = 0 }: Response) => status >= 400 && status < 500 && status !== 429;
  return ![...tries, unlimited].some(isCallersError);
}
