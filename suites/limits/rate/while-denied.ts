import type { LimitedAccount, RequestSpec, Response, Session } from "../../../src/checks/index.ts";
import { otherDialect } from "../../shared/cases/other-dialect.ts";
import { servable } from "../../shared/cases/servable.ts";
import { inTurns, LONG_TEXT } from "../../shared/requests/texts.ts";
import type { Burst } from "../burst.ts";
import { isRateDenial, isRefused } from "../denials.ts";
import { type RequestKey, sendPlain, sendPlainAtOnce } from "../send.ts";

/** Requests of one kind while the account was denied, with the denials of the first key before and after them. */
export type WhileDenied = {
  readonly kind: string;
  readonly before: Response;
  readonly tries: readonly Response[];
  readonly after: Response;
  /** From the first to the last of them, seconds. */
  readonly seconds: number;
};

/** One request of every kind that must share the same count. */
export async function kindsOf(t: Session, account: LimitedAccount): Promise<Record<string, RequestSpec>> {
  const { key, second } = account;
  const [another] = await servable(t, [
    { key, model: "tools" },
    { key, model: "stream" },
  ]);
  const endpoint = otherDialect(t);
  return {
    ...(second === undefined
      ? {}
      : {
          "other key": { key: second },
          ...(endpoint !== undefined && { "other key, messages": { key: second, endpoint } }),
        }),
    "another client": {
      key,
      prompt: LONG_TEXT,
      headers: [
        ["User-Agent", "another-client/1.0"],
        ["X-Forwarded-For", "192.0.2.7"],
      ],
      freshConnection: true,
    },
    streams: { key, mode: "streaming" },
    conversations: {
      key,
      prompt: inTurns("three"),
    },
    ...(endpoint !== undefined && {
      messages: { key, endpoint },
      "messages streams": { key, endpoint, mode: "streaming" as const },
    }),
    ...(another === undefined ? {} : { "other model": another }),
    "model list": { key, endpoint: "models" },
  };
}

const TRIES = 3;
/** The window may roll over during an attempt; a kind that is never denied will not be denied in another round either. */
export const ROUNDS = 3;

/** Sends each kind while the first key is denied, and repeats it if the window rolled over meanwhile. */
export async function triesWhileDenied(
  t: Session,
  key: RequestKey,
  kinds: Record<string, RequestSpec>,
  toTheLimit: () => Promise<Burst>,
): Promise<WhileDenied[]> {
  const tried: WhileDenied[] = [];
  let reachable = true;
  for (const [kind, request] of Object.entries(kinds)) {
    for (let round = 0; round < ROUNDS && (reachable || round === 0); round++) {
      const entry = await tryWhileDenied(t, kind, { ...request, intent: "any" }, key);
      if (round === 0 || isBracketed(entry)) tried.push(entry);
      if (isBracketed(entry)) break;
      tried.splice(-1, 1, entry);
      reachable = (await toTheLimit()).responses.some(isRefused);
    }
  }
  return tried;
}

async function tryWhileDenied(t: Session, kind: string, request: RequestSpec, key: RequestKey): Promise<WhileDenied> {
  const startUs = t.nowUs();
  const before = await sendPlain(t, key);
  const tries: Response[] = [];
  for (let count = 0; count < TRIES; count++) tries.push(await t.start(request).done);
  const after = await sendPlain(t, key);
  return { kind, before, tries, after, seconds: (t.nowUs() - startUs) / 1_000_000 };
}

/** Denied before and after in the same way: a kind that was admitted in between does not share the count. */
export function isBracketed({ before, after }: WhileDenied): boolean {
  return isRefused(before) && isRefused(after) && before.summary === after.summary;
}

/** Pauses before the later requests, ms, and the largest limit for which that many denied requests are affordable. */
const LATER_MS = 8_000;
const STILL_LATER_MS = 9_000;
const MAX_DENIED = 64;

/**
 * Sends requests that are denied some seconds after the limit was reached: as many as the limit allows, so that a limiter that
 * counts them without saying so sends a Retry-After that is too short.
 *
 * @returns every kind of request once more, even later: one that is counted in a shorter window is admitted by then.
 */
export async function tryLater(t: Session, account: LimitedAccount, parallel: number): Promise<WhileDenied[]> {
  const { key, limits } = account;
  await t.wait(LATER_MS, "a later request in the same rate window");
  for (let sent = 0; sent <= limits.rpm && limits.rpm <= MAX_DENIED; sent += parallel) {
    const responses = await sendPlainAtOnce(t, key, parallel);
    if (!responses.some(isRateDenial)) return [];
  }
  // Refused for the body, or denied by the rate limit with the same Retry-After as the others.
  for (const endpoint of t.target.dialects) await t.start({ key, endpoint, rawBody: "{", intent: "any" }).done;
  await t.wait(STILL_LATER_MS, "a later request in the same rate window");
  const later: WhileDenied[] = [];
  for (const [kind, request] of Object.entries(await kindsOf(t, account))) {
    if (kind === "model list") continue;
    const entry = await tryWhileDenied(t, kind, { ...request, intent: "any" }, key);
    if (!isBracketed(entry)) break;
    later.push(entry);
  }
  return later;
}

/** Long enough to show that a Retry-After that ignores this time is too short, ms. */
const APART_MS = 2_500;

/**
 * After a pause, sends one request fewer than the limit. For a limiter that counts denied requests, the next request continues
 * the count from before the pause, and the one with a sufficient Retry-After continues it from after the pause.
 */
export async function sendPlainUpTo(t: Session, { key, limits }: LimitedAccount, parallel: number): Promise<void> {
  if (limits.rpm > MAX_DENIED) return;
  await t.wait(APART_MS);
  for (let left = limits.rpm - 1; left > 0; left -= parallel) {
    await sendPlainAtOnce(t, key, Math.min(parallel, left));
  }
}
