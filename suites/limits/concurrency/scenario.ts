import {
  defineScenario,
  type Held,
  type LimitedAccount,
  limitedFor,
  observationOf,
  type RequestSpec,
  type Response,
  type Session,
  scheduleOn,
} from "../../../src/checks/index.ts";
import { median } from "../../../src/core/index.ts";
import { type LimitName, limitOfUnnamed } from "../../../src/limits/index.ts";
import type { Key, Limits, Target } from "../../../src/target/index.ts";
import { expectedDenial } from "../../shared/expected-denial.ts";
import type { ExpectedDenial } from "../../shared/judge-denial.ts";
import { otherDialect } from "../../shared/other-dialect.ts";
import { servable } from "../../shared/servable.ts";
import { spellingsOf } from "../../shared/spellings.ts";
import { isServed, limitDenials } from "../denials.ts";
import { type OtherAccount, sendToOtherAccounts } from "../other-accounts.ts";
import { untilQuiet } from "../paced.ts";
import { atOnce, longStream, sendPlainAtOnce } from "../send.ts";
import { type Extra, extraKindsOf } from "./extra-requests.ts";
import { untilInFlight } from "./in-flight.ts";
import { type PartialRelease, releaseSome } from "./partial-release.ts";
import { NOTICE_MS } from "./release-causes.ts";
import { evenly, LATE_MS, SETTLE_MS, type Wave, type WavePacing, wavesAfterRelease } from "./release-waves.ts";

export type ConcurrencyRecording = {
  readonly limits: { readonly rpm: number; readonly inFlight: number };
  /** Streams up to three times the limit, started together, each on its own connection. */
  readonly burst: readonly Response[];
  /** Which limit its 429s without a named limit are about. */
  readonly unnamed: LimitName;
  /** The same for requests after the burst: if the account's rate limit is high enough, their unnamed 429s can only be about concurrency. */
  readonly unnamedLater: LimitName;
  /** Whether they were sent evenly, well below the rate, because the rate limiter had denied some concurrent ones. */
  readonly spaced: boolean;
  /** The streams that filled the limit. */
  readonly held: readonly Response[];
  readonly extras: readonly Extra[];
  /** A key in other spellings at the limit; none in a quick run, or if the rate has no room for them. */
  readonly spelled: readonly Extra[];
  readonly extraBurst: readonly Response[];
  /** Requests late in the life of the held streams. */
  readonly late: readonly Response[];
  /** Sent after the first held stream had ended. */
  readonly freed: Response | null;
  readonly others: readonly OtherAccount[];
  /** Non-streaming requests, far over the limit, sent together; none if the target has no slow model. */
  readonly nonStreaming: readonly Response[];
  /** Non-streaming requests that filled the limit, and a late one. */
  readonly lateNonStreaming: LateRequest | null;
  /** The same with streams that are silent at first. */
  readonly lateStream: LateRequest | null;
  readonly waves: readonly Wave[];
  /** Attempts in which some streams ended while the rest continued. */
  readonly partialReleases: readonly PartialRelease[];
  readonly expected: ExpectedDenial;
};

/** Requests that filled the limit, and one sent shortly before they ended. */
export type LateRequest = { readonly held: readonly Response[]; readonly extra: Response };

/** A denial is recorded within this time after its first byte. */
const AT_ONCE_MS = 60;

/** Whether the rate has room for a wave after every cause of release; otherwise only one attempt is affordable. */
export function hasRoomForWaves({ rpm, inFlight }: Limits): boolean {
  return rpm >= 30 * inFlight + 100;
}

/** A slow non-streaming reply, on its own connection. */
function slowReply(key: Key): RequestSpec {
  return { key, mode: "non-streaming", model: "slow", intent: "either", freshConnection: true };
}

/**
 * A burst far over the limit; the limit in flight, with extra requests early and late; and waves up to the limit after every
 * cause of release. Uses the account with the lowest limit.
 */
async function runScenario(t: Session): Promise<ConcurrencyRecording> {
  const account = t.limited("concurrency");
  // If the rate was measured on the same account, its window would deny requests that test concurrency.
  if (account.shared || limitedFor(t.target, "rate")?.key === account.key) await untilQuiet(t, account.key);
  const { limits, key } = account;
  const limit = limits.inFlight;
  const long = longStream(key);
  const roomy = hasRoomForWaves(limits);
  const over = roomy ? limit * 2 : Math.min(8, limit);
  // Keys take turns: if the requests of one are not counted, too many are admitted.
  const both = account.second === undefined ? [long] : [long, { ...long, key: account.second }];
  const onMessages: RequestSpec = { ...long, endpoint: otherDialect(t) ?? t.dialect };
  // A quick run has no time to do it alone: it uses another account, concurrently with the burst.
  const trying = t.isQuick ? tryOther(t, { ...onMessages, key: "valid" }) : undefined;
  let burst = await atOnce(t, both, limit + over);
  const spacingMs = 120_000 / limits.rpm;
  const first = limitOfUnnamed(burst.map(observationOf), limit);
  const spaced = burst.some(limitDenials(first).isRate) && spacingMs * (limit + over) < typicalMs(burst) * 0.7;
  await t.wait(SETTLE_MS);
  if (spaced) {
    burst = await evenly(t, long, limit + over, spacingMs);
    await t.wait(SETTLE_MS);
  }
  const unnamed = limitOfUnnamed(burst.map(observationOf), limit);
  const unnamedLater = roomy ? unnamed : "rate";
  // Dialects take turns: if the streams of one are not counted, there is room left.
  const trial = await (trying ?? tryOther(t, onMessages));
  const isAsLong = trial !== undefined && isServed(trial) && typicalMs([trial]) > typicalMs(burst) * 0.8;
  // So do keys: if the streams of one stop counting early, there is room left, too.
  const other: RequestSpec = account.second === undefined ? {} : { key: account.second };
  const dialects =
    isAsLong && trial.streamed
      ? [long, { ...onMessages, ...other }, { ...long, ...other }, onMessages]
      : [long, { ...long, ...other }];
  await t.wait(spaced ? spacingMs : SETTLE_MS);
  const pacing = { typical: typicalMs(burst), spacingMs: spaced ? spacingMs : 0, unnamed: unnamedLater };
  const atLimit = await atConcurrencyLimit(t, account, dialects, pacing);
  const hasTime = !t.isQuick;
  const slow = hasTime && roomy && !spaced && (await t.hasModel("slow"));
  const slowRequest = slowReply(key);
  const nonStreaming = slow ? await atOnce(t, [slowRequest], limit + over) : [];
  const lateNonStreaming = slow ? await lateIn(t, slowRequest, limit, typicalMs(nonStreaming)) : null;
  const lateStream = slow
    ? await lateIn(t, { ...slowRequest, mode: "streaming" }, limit, typicalMs(nonStreaming))
    : null;
  await t.wait(SETTLE_MS);
  const some = () => (roomy && !spaced ? releaseSome(t, account, long) : []);
  const waves = roomy ? await wavesAfterRelease(t, account, long, pacing) : [];
  // A quick run aborts the streams of its last wave.
  if (!hasTime) await t.wait(NOTICE_MS[0]);
  await t.afterOthers();
  const partialReleases = await some();
  return {
    limits,
    burst,
    unnamed,
    unnamedLater,
    spaced,
    ...atLimit,
    nonStreaming,
    lateNonStreaming,
    lateStream,
    waves,
    partialReleases,
    expected: expectedDenial(t, "concurrency_limit_exceeded"),
  };
}

/** A long stream of the other dialect; `undefined` if there is none. */
async function tryOther(t: Session, request: RequestSpec): Promise<Response | undefined> {
  const [tried] = otherDialect(t) === undefined ? [] : await servable(t, [request]);
  return tried === undefined ? undefined : t.start(tried).done;
}

/** The maximum number of requests that it sends. */
function requestsOfScenario(target: Target): number {
  const limits = limitedFor(target, "concurrency")?.limits;
  if (limits === undefined) return 0;
  return hasRoomForWaves(limits) ? 40 * limits.inFlight + 320 : 2 * limits.inFlight + 60;
}

function requestsOfQuickScenario(target: Target): number {
  const limits = limitedFor(target, "concurrency")?.limits;
  if (limits === undefined) return 0;
  return hasRoomForWaves(limits) ? 16 * limits.inFlight + 80 : 2 * limits.inFlight + 60;
}

/** Requests up to and over the concurrency limit, on the account with the lowest one. */
export const concurrencyScenario = defineScenario({
  id: "limits.concurrency",
  needs: ["limited.concurrency", "model.stream"],
  schedule: (target) => scheduleOn(limitedFor(target, "concurrency")),
  cost: { requests: requestsOfScenario, waitS: 30, quick: { requests: requestsOfQuickScenario, waitS: 5 } },
  reaches: "concurrency",
  run: runScenario,
  assume({ burst, unnamed, spaced }, verdict) {
    const { isRate, isConcurrency } = limitDenials(unnamed);
    const rate = burst.find(isRate);
    // A limiter without burst denies concurrent requests for their rate; then the burst says nothing about concurrency.
    if (rate !== undefined && !burst.some(isConcurrency) && !spaced)
      verdict.inconclusive(`the rate limit was reached before the concurrency limit (${rate.summary})`);
  },
});

/** Replies shorter than this end before a request can be sent late in their life, ms. */
const SLOW_REPLY_MS = 1_200;

async function lateIn(t: Session, request: RequestSpec, limit: number, typical: number): Promise<LateRequest | null> {
  if (!(typical >= SLOW_REPLY_MS)) return null;
  await t.wait(SETTLE_MS);
  const held = Array.from({ length: limit }, () => t.start(request).done);
  await t.wait(typical * 0.75);
  const extra = await t.start({ ...request, mode: "non-streaming", model: "plain" }).done;
  return { held: await Promise.all(held), extra };
}

/** Median duration of the admitted ones, ms. */
function typicalMs(responses: readonly Response[]): number {
  return median(responses.filter(({ status }) => status === 200).map(({ durationMs }) => durationMs));
}

interface Pacing extends WavePacing {
  /** Median duration of a held stream, ms. */
  readonly typical: number;
}

async function atConcurrencyLimit(t: Session, account: LimitedAccount, long: readonly RequestSpec[], pacing: Pacing) {
  const { limits, key } = account;
  const { typical, spacingMs, unnamed } = pacing;
  const limit = limits.inFlight;
  let startUs = t.nowUs();
  let streams = await reachConcurrencyLimit(t, long, limit, spacingMs);
  if (await lacksOne(t, streams, unnamed)) {
    // One request may still be counted, or a provider failed; the second result is final.
    await Promise.all(streams.map(({ done }) => done));
    await t.wait(LATE_MS);
    startUs = t.nowUs();
    streams = await reachConcurrencyLimit(t, long, limit, spacingMs);
  }
  const sendExtra = async (request: RequestSpec) => {
    if (spacingMs > 0) await t.wait(spacingMs);
    return t.start({ intent: "either", ...request }).done;
  };
  const others = sendToOtherAccounts(t, account, { tries: 1 });
  // It is awaited at the end; an error that ends the run earlier is reported there.
  others.catch(() => undefined);
  // All kinds concurrently: a gateway with slow denials must respond before the streams end.
  const spellings = spacingMs > 0 || t.isQuick ? {} : spellingsOf(key);
  const kinds = Object.entries({ ...(await extraKindsOf(t, account)), ...spellings });
  const first = await Promise.all(
    kinds.map(([, request], index) => t.wait(index * spacingMs).then(() => sendExtra(request))),
  );
  const again = await Promise.all(
    kinds.map(([, request], index) => t.wait(index * spacingMs).then(() => sendExtra(request))),
  );
  const sent = kinds.map(
    ([kind], index): Extra => ({
      kind,
      responses: [first[index], again[index]].filter((response) => response !== undefined),
    }),
  );
  const spelled = sent.filter(({ kind }) => kind in spellings);
  const extras = sent.filter(({ kind }) => !(kind in spellings));
  const extraBurst = await (spacingMs > 0
    ? evenly(t, { key, intent: "either" }, 8, spacingMs)
    : sendPlainAtOnce(t, key, 8));
  const elapsedMs = () => (t.nowUs() - startUs) / 1_000;
  await t.wait(Math.max(0, typical * 0.75 - elapsedMs()));
  const late = [await sendExtra({ key }), await sendExtra({ key, mode: "streaming" })];
  await Promise.race(streams.map(({ done }) => done));
  await t.wait(SETTLE_MS);
  let freed = await sendExtra({ key });
  if (limitDenials(unnamed).isConcurrency(freed)) {
    await t.wait(LATE_MS);
    freed = await sendExtra({ key });
  }
  const held = await Promise.all(streams.map(({ done }) => done));
  return { held, extras, spelled, extraBurst, late, freed, others: await others };
}

async function reachConcurrencyLimit(
  t: Session,
  long: readonly RequestSpec[],
  limit: number,
  spacingMs: number,
): Promise<Held[]> {
  const streams: Held[] = [];
  for (let index = 0; index < limit; index++) {
    // The last one is sent last, in the last dialect: an off-by-one error would refuse it.
    const isLast = index === limit - 1;
    if (isLast) await untilInFlight(t, streams);
    streams.push(t.start(long[isLast ? long.length - 1 : index % long.length] ?? {}));
    if (spacingMs > 0) await t.wait(spacingMs);
  }
  await untilInFlight(t, streams);
  return streams;
}

/** Whether one of them ended immediately, denied by the concurrency limit or failed; the others continue. */
async function lacksOne(t: Session, streams: readonly Held[], unnamed: LimitName): Promise<boolean> {
  const ended: Response[] = [];
  for (const { done } of streams) void done.then((response) => ended.push(response));
  await t.wait(AT_ONCE_MS);
  const { isRate } = limitDenials(unnamed);
  return ended.some((response) => !isServed(response) && !isRate(response));
}
