import type { LimitedAccount, RequestSpec, Response, Session } from "../../../src/checks/index.ts";
import { otherDialect } from "../../shared/cases/other-dialect.ts";
import { spellingsOf } from "../../shared/cases/spellings.ts";
import { limitDenials } from "../denials.ts";
import { sendPlainAtOnce } from "../send.ts";
import { typicalMs } from "./fill.ts";
import { type ConcurrencyRecording, type ConcurrencyRun, type Extra, spacingMsOf } from "./recording.ts";
import { evenly, LATE_MS, SETTLE_MS } from "./release-waves.ts";

/** One request of every kind that must share the same count. */
async function extraKindsOf(t: Session, { key, second }: LimitedAccount): Promise<Record<string, RequestSpec>> {
  const endpoint = otherDialect(t);
  return {
    "plain requests": { key },
    streams: { key, mode: "streaming" },
    ...(endpoint !== undefined && {
      messages: { key, endpoint },
      "messages streams": { key, endpoint, mode: "streaming" as const },
    }),
    "short replies": { key, endpoint: endpoint ?? t.dialect, maxTokens: 8 },
    ...(second === undefined ? {} : { "other key": { key: second } }),
    ...((await t.hasModel("tools")) ? { "other model": { key, model: "tools" as const } } : {}),
    "unknown model": { key, model: "unknown" },
    "model list": { key, endpoint: "models" },
  };
}

async function sendExtra(t: Session, request: RequestSpec, spacingMs: number): Promise<Response> {
  if (spacingMs > 0) await t.wait(spacingMs);
  return t.start({ intent: "any", ...request }).done;
}

/**
 * Sends every kind twice. All kinds go out together, or spaced if the account allows no burst, so that even slow denials arrive
 * before the streams end.
 */
export async function sendExtras(run: ConcurrencyRun, recording: ConcurrencyRecording): Promise<Extra[]> {
  const { t, account } = run;
  const spacingMs = spacingMsOf(recording);
  const spellings = spacingMs > 0 || t.run.isQuick ? {} : spellingsOf(account.key);
  const kinds = Object.entries({ ...(await extraKindsOf(t, account)), ...spellings });
  const sendAll = () =>
    Promise.all(
      kinds.map(([, request], index) => t.wait(index * spacingMs).then(() => sendExtra(t, request, spacingMs))),
    );
  const rounds = [await sendAll(), await sendAll()];
  const sent = kinds.map(
    ([kind], index): Extra => ({ kind, responses: rounds.flatMap((responses) => responses[index] ?? []) }),
  );
  run.spelled = sent.filter(({ kind }) => kind in spellings);
  return sent.filter(({ kind }) => !(kind in spellings));
}

const IN_EXTRA_BURST = 8;

/** Plain requests, sent concurrently if the rate allows it. */
export function sendExtraBurst({ t, account }: ConcurrencyRun, recording: ConcurrencyRecording): Promise<Response[]> {
  const { key } = account;
  const spacingMs = spacingMsOf(recording);
  return spacingMs > 0
    ? evenly(t, { key, intent: "any" }, IN_EXTRA_BURST, spacingMs)
    : sendPlainAtOnce(t, key, IN_EXTRA_BURST);
}

/** Two requests shortly before the streams end. */
export async function sendLate(run: ConcurrencyRun, recording: ConcurrencyRecording): Promise<Response[]> {
  const { t, account, startUs } = run;
  const spacingMs = spacingMsOf(recording);
  const elapsedMs = (t.nowUs() - startUs) / 1_000;
  await t.wait(Math.max(0, typicalMs(recording.burst) * 0.75 - elapsedMs));
  const plain = await sendExtra(t, { key: account.key }, spacingMs);
  return [plain, await sendExtra(t, { key: account.key, mode: "streaming" }, spacingMs)];
}

/** A request after the first stream has ended, and another one later if the stream still counted. */
export async function sendFreed(run: ConcurrencyRun, recording: ConcurrencyRecording): Promise<Response> {
  const { t, account, streams } = run;
  const send = () => sendExtra(t, { key: account.key }, spacingMsOf(recording));
  await Promise.race(streams.map(({ done }) => done));
  await t.wait(SETTLE_MS);
  const freed = await send();
  if (!limitDenials(recording.unnamedLater).isConcurrency(freed)) return freed;
  await t.wait(LATE_MS);
  return send();
}
