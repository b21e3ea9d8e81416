import type { RequestSpec, Response, Session } from "../../../src/checks/index.ts";
import { WINDOW_OVER_MS } from "../../../src/limits/index.ts";
import { otherDialect } from "../../shared/cases/other-dialect.ts";
import { type Burst, burst, endedMs, exceedsLimit, refilledEarly } from "../burst.ts";
import { isRateDenial } from "../denials.ts";
import { RATE_WINDOW_LABEL } from "../paced.ts";
import type { RateRecording, RateRun } from "./recording.ts";
import { latestDenial, waitAndRetry } from "./tested-wait.ts";
import type { WhileDenied } from "./while-denied.ts";

/** Time for a window to release a slow burst, ms. */
const MAX_BURST_MS = 5_000;
/** A remainder of the minute short enough to wait for, ms. */
const SHORT_REST_MS = 12_000;
/** The burst with the other key and dialect. */
export async function reachLimitAgain(run: RateRun, { first, whileDenied }: RateRecording): Promise<Burst> {
  const { t, account, plan } = run;
  // Wait for the end of a window that is nearly over, so that the second burst meets an empty one.
  const restMs = endedMs(first) + WINDOW_OVER_MS - t.nowUs() / 1_000;
  if (restMs > 0 && restMs < SHORT_REST_MS) await t.wait(restMs, RATE_WINDOW_LABEL);
  // A sliding window frees the capacity of a slow burst as slowly as the burst took it.
  else if (restMs > 0) await t.wait(Math.min(first.seconds * 1_000, MAX_BURST_MS));
  // If only one dialect is served, the other key alone.
  const endpoint = otherDialect(t) ?? t.dialect;
  const onMessages: RequestSpec = { key: account.second ?? account.key, endpoint };
  const both: RequestSpec[] = [onMessages, { ...onMessages, mode: "streaming" }];
  run.messages = (await streamsMessages(t, whileDenied)) ? both : both.slice(0, 1);
  return burst(t, { ...plan, what: `${endpoint}, other key`, specs: run.messages });
}

/** A denial after all requests of the second burst; `null` if that was not denied, or if the limit is no longer in effect. */
export async function lastDenialOf(
  { t, plan, messages }: RateRun,
  { second }: RateRecording,
): Promise<Response | null> {
  if (second?.responses.some(isRateDenial) !== true) return null;
  const [request = {}] = messages;
  const again = { ...plan, what: second.what, specs: [request] };
  return latestDenial(t, request, async () => (await burst(t, again)).responses.some(isRateDenial));
}

/** Repeats the burst that admitted too much, if only one did: the boundary of a fixed window explains one. */
export async function repeatExcess(
  { t, limits, plan, chat, messages, account }: RateRun,
  { first, second, secondWait, lastDenial, denial }: RateRecording,
): Promise<Burst | null> {
  if (second === null || denial === null) return null;
  const excessive = [first, second].filter((one) => exceedsLimit(one, limits));
  const [once] = refilledEarly(first, second, limits) ? [first] : excessive;
  if (once === undefined || excessive.length === 2) return null;
  const isFirst = once === first;
  const [onMessages = {}] = messages;
  if (secondWait === null) await waitAndRetry(t, lastDenial ?? denial, isFirst ? { key: account.key } : onMessages);
  return burst(t, { ...plan, what: once.what, specs: isFirst ? chat : messages });
}

/** Whether the other dialect streams at all, which the specification leaves open: any denial may hide a refusal. */
async function streamsMessages(t: Session, whileDenied: readonly WhileDenied[]): Promise<boolean> {
  const tries = whileDenied.find(({ kind }) => kind === "messages streams")?.tries ?? [];
  const unlimited = await t.start({ endpoint: otherDialect(t) ?? t.dialect, mode: "streaming", intent: "any" }).done;
  const isCallersError = ({ status = 0 }: Response) => status >= 400 && status < 500 && status !== 429;
  return ![...tries, unlimited].some(isCallersError);
}
