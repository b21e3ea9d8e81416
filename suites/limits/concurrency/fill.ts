import type { HeldRequest, RequestSpec, Response, Session } from "../../../src/checks/index.ts";
import { median } from "../../../src/core/index.ts";
import type { LimitName } from "../../../src/limits/index.ts";
import { otherDialect } from "../../shared/cases/other-dialect.ts";
import { servable } from "../../shared/cases/servable.ts";
import { isServed, limitDenials } from "../denials.ts";
import { sendToOtherAccounts } from "../other-accounts.ts";
import { untilInFlight } from "./in-flight.ts";
import { type ConcurrencyRecording, type ConcurrencyRun, type LateRequest, spacingMsOf } from "./recording.ts";
import { LATE_MS, SETTLE_MS } from "./release-waves.ts";

/** A denial is recorded within this time after its first byte. */
const AT_ONCE_MS = 60;

/** Median duration of the admitted ones, ms. */
export function typicalMs(responses: readonly Response[]): number {
  return median(responses.filter(({ status }) => status === 200).map(({ durationMs }) => durationMs));
}

/** The long stream in the other dialect, if there is one. */
export function inOtherDialect({ t, long }: ConcurrencyRun): RequestSpec {
  return { ...long, endpoint: otherDialect(t) ?? t.dialect };
}

/** Sends a long stream of the other dialect; `null` if there is none. */
export async function tryOther(t: Session, request: RequestSpec): Promise<Response | null> {
  const [tried] = otherDialect(t) === undefined ? [] : await servable(t, [request]);
  return tried === undefined ? null : t.start(tried).done;
}

/** Fills the limit, and again if a stream was denied or failed. @returns how often. */
export async function fillLimit(run: ConcurrencyRun, recording: ConcurrencyRecording): Promise<number> {
  const { t, account, limits } = run;
  const { burst, trial, spaced, unnamedLater } = recording;
  // Keys take turns: if the streams of one stop counting early, there is room left. So do dialects, if both take as long.
  const other: RequestSpec = account.second === undefined ? {} : { key: account.second };
  const onMessages = inOtherDialect(run);
  const isAsLong = trial !== null && isServed(trial) && typicalMs([trial]) > typicalMs(burst) * 0.8;
  const long =
    isAsLong && trial.streamed
      ? [run.long, { ...onMessages, ...other }, { ...run.long, ...other }, onMessages]
      : [run.long, { ...run.long, ...other }];
  const spacingMs = spacingMsOf(recording);
  await t.wait(spaced ? spacingMs : SETTLE_MS);
  const start = async () => {
    run.startUs = t.nowUs();
    run.streams = await reachLimit(t, long, limits.inFlight, spacingMs);
  };
  await start();
  const isLacking = await lacksOne(t, run.streams, unnamedLater);
  if (isLacking) {
    // One request may still be counted, or a provider failed; the second result is final.
    await Promise.all(run.streams.map(({ done }) => done));
    await t.wait(LATE_MS);
    await start();
  }
  run.sendingToOthers = sendToOtherAccounts(t, account, { tries: 1 });
  // It is awaited at the end; an error that ends the run earlier is reported there.
  run.sendingToOthers.catch(() => undefined);
  return isLacking ? 2 : 1;
}

async function reachLimit(
  t: Session,
  long: readonly RequestSpec[],
  limit: number,
  spacingMs: number,
): Promise<HeldRequest[]> {
  const streams: HeldRequest[] = [];
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
async function lacksOne(t: Session, streams: readonly HeldRequest[], unnamed: LimitName): Promise<boolean> {
  const ended: Response[] = [];
  for (const { done } of streams) void done.then((response) => ended.push(response));
  await t.wait(AT_ONCE_MS);
  const { isRate } = limitDenials(unnamed);
  return ended.some((response) => !isServed(response) && !isRate(response));
}

/** Replies shorter than this end before a request can be sent late in their life, ms. */
const SLOW_REPLY_MS = 1_200;

/** Fills the limit with requests that take `typical` ms, and sends one more shortly before they end. */
export async function lateIn(
  { t, limits }: ConcurrencyRun,
  request: RequestSpec,
  typical: number,
): Promise<LateRequest | null> {
  if (!(typical >= SLOW_REPLY_MS)) return null;
  await t.wait(SETTLE_MS);
  const held = Array.from({ length: limits.inFlight }, () => t.start(request).done);
  await t.wait(typical * 0.75);
  const extra = await t.start({ ...request, mode: "non-streaming", model: "plain" }).done;
  return { held: await Promise.all(held), extra };
}
