import type { LimitedAccount, RequestSpec, Response, Session } from "../../../src/checks/index.ts";
import type { LimitName } from "../../../src/limits/index.ts";
import { admittedIn, limitDenials } from "../denials.ts";
import { abortOnceDecided, atOnce } from "../send.ts";
import { NOTICE_MS, quickCauses, releaseCauses } from "./release-causes.ts";

/** Requests over the concurrency limit, sent together after others had ended. `what` names those. */
export type Wave = {
  readonly what: string;
  /** Whether their clients had disconnected. */
  readonly disconnected: boolean;
  /** Number of requests that must be admitted: the concurrency limit. */
  readonly expected: number;
  readonly responses: readonly Response[];
  /** The repetition, if fewer than the limit had been admitted. */
  readonly later: readonly Response[] | null;
};

/** A request may count as in flight until a moment after its last byte; a wave with a denial is repeated once, later. */
export const SETTLE_MS = 250;
export const LATE_MS = 1_500;
/** A gateway that has not begun to respond by then is queuing what it should deny, ms. */
const BEGUN_MS = 3_000;

/** Sends at half the account's rate, so that no limiter has a reason to deny these. */
export async function evenly(t: Session, request: RequestSpec, count: number, spacingMs: number): Promise<Response[]> {
  const sent: Promise<Response>[] = [];
  for (let index = 0; index < count; index++) {
    sent.push(t.start(request).done);
    await t.wait(spacingMs);
  }
  return Promise.all(sent);
}

export interface WavePacing {
  /** Pause between requests, ms; 0 if the limiter allows enough burst. */
  readonly spacingMs: number;
  /** Which limit a 429 without a named limit is about. */
  readonly unnamed: LimitName;
}

/** A wave after each cause of release. A quick run sends one after all aborted requests and one after all that ended normally. */
export async function wavesAfterRelease(
  t: Session,
  account: LimitedAccount,
  long: RequestSpec,
  { spacingMs, unnamed }: WavePacing,
): Promise<Wave[]> {
  const limit = account.limits.inFlight;
  const { isConcurrency } = limitDenials(unnamed);
  const send = (request: RequestSpec) => sendWave(t, account, { request, long, spacingMs, unnamed });
  const waves: Wave[] = [];
  const options = { account, long, spacingMs };
  let hasLeft = false;
  for (const cause of await (t.run.isQuick ? quickCauses : releaseCauses)(t, options)) {
    const { what, disconnects = false, failsUpstream = false } = cause;
    if (hasLeft) await t.wait(NOTICE_MS[0]);
    if (failsUpstream) await t.afterOthers();
    await cause.run();
    // A gateway that pauses its providers after failures would deny the wave because of that.
    if (failsUpstream) await t.send({ mode: "non-streaming", intent: "any", maxTokens: 8 });
    await t.wait(disconnects ? NOTICE_MS[0] : SETTLE_MS);
    // Connections that have carried requests before: a request on one of them counts once, too.
    const request = disconnects ? long : { ...long, freshConnection: false };
    const responses = await send(request);
    let later: Response[] | null = null;
    if (admittedIn(responses) < limit && responses.some(isConcurrency)) {
      // A quick run has aborted the streams of the wave as well.
      await t.wait(disconnects || t.run.isQuick ? NOTICE_MS[1] : LATE_MS);
      later = await send(request);
    }
    waves.push({ what, disconnected: disconnects, expected: limit, responses, later });
    await t.wait(SETTLE_MS);
    // A quick run aborts the streams of each wave.
    hasLeft = t.run.isQuick;
  }
  return waves;
}

/** Two requests more than the limit. */
async function sendWave(
  t: Session,
  account: LimitedAccount,
  { request, long, spacingMs, unnamed }: WavePacing & { readonly request: RequestSpec; readonly long: RequestSpec },
): Promise<Response[]> {
  const count = account.limits.inFlight + 2;
  if (spacingMs > 0) return evenly(t, long, count, spacingMs);
  const responses = await (t.run.isQuick
    ? abortOnceDecided(
        t,
        Array.from({ length: count }, () => t.start(request)),
        BEGUN_MS,
      )
    : atOnce(t, [request], count));
  if (!responses.some(limitDenials(unnamed).isRate)) return responses;
  // A limiter with little burst denied our speed; it has no reason to at half the account's rate.
  const slowMs = 120_000 / account.limits.rpm;
  await t.wait(slowMs * count);
  return evenly(t, long, count, slowMs);
}
