import { outputTokensOf, type RequestSpec, type Response, type Session } from "../../src/checks/index.ts";
import { type Dialect, isLimitReason, MODES, type Mode } from "../../src/dialects/index.ts";
import type { Key } from "../../src/target/index.ts";
import { otherDialect } from "../shared/cases/other-dialect.ts";
import { inTurns, LONG_TEXT } from "../shared/requests/texts.ts";

/** Keys that start with room and that a run may use up: a daily cap, and a lifetime budget. */
export type UsedUpState = "cappable" | "childSmall";

/** How long a daily cap's tally may lag, plus a margin; a budget has no such allowance. Seconds. */
export const LAG_S = { cappable: 75, childSmall: 8 } as const;

/** One kind of paid traffic. */
export type Kind = {
  readonly endpoint: Dialect;
  readonly mode: Mode;
  /** Long streams, which some gateways forget to charge. */
  readonly long?: boolean;
  /** Conversations, each followed by a request that ends in a provider's failure. */
  readonly inTurns?: boolean;
  /** Replies that the request's output limit truncates. */
  readonly cut?: boolean;
};

export function kindsOf({ target: { dialects } }: Session): Kind[] {
  return dialects.flatMap((endpoint) => MODES.map((mode): Kind => ({ endpoint, mode })));
}

/** Traffic that some gateways do not charge, and that makes some forget what was spent. */
export const inTurnsOf = ({ dialect }: Session): Kind => ({ endpoint: dialect, mode: "non-streaming", inTurns: true });

/** Traffic that some gateways treat as a failure. */
export const cutOf = (t: Session): Kind => ({
  endpoint: otherDialect(t) ?? t.dialect,
  mode: "non-streaming",
  cut: true,
});
/** Tokens of a truncated reply: fewer than it would have, and more expensive than a small one. */
const CUT_TOKENS = 300;

const turns = (last: string) => inTurns(last, "Let us talk.", "Yes.");

/** A key that was used with one kind of traffic until it was denied, or until it should have been. */
export type Drive = {
  readonly kind: Kind;
  /** Requests that were served before the first denial. */
  readonly served: number;
  readonly first: Response | null;
  readonly denial: Response | null;
  /** From the last served request to the denial, or to the last attempt, seconds. */
  readonly waitedS: number;
  /** Why it stopped early, for a reason that says nothing about the limit; `null`: it did not stop early. */
  readonly stoppedBecause: string | null;
};

/**
 * Small requests first, so that the overshoot is small; then a few large ones, and a wait, because the tally may lag. Many large
 * ones, which use the run's own budget, only if the limit turns out not to be small.
 */
const SMALL = 60;
const SOME_LARGE = 6;
const MORE_LARGE = 34;
/** Share of the run's output token budget that one drive may use before the many large requests end: others need some, too. */
const SHARE_OF_BUDGET = 0.08;
const POLL_MS = 3_000;
/** After this many consecutive requests that were not served, the key is stopped, or its account has another problem. */
const STOPPED = 3;
/** Pause between these, and before the account of such a key is tried again, ms. */
const PAUSE_MS = 1_000;
const TROUBLE_MS = 20_000;

/** Large requests that are sent concurrently: more would greatly exceed a small limit. */
const LARGE_TOGETHER = 3;

/** How many requests a key is driven with: see `effortFor`. */
export type Effort = {
  readonly small: number;
  readonly large: number;
  /** Whether to wait for a lagging tally before the many large ones. */
  readonly waitBetween: boolean;
};

/** Effort for the first kind of traffic, when nothing is known yet. */
const ALL: Effort = { small: SMALL, large: SOME_LARGE + MORE_LARGE, waitBetween: true };

/** What another kind needs to reach the same limit, according to earlier kinds. */
export function effortFor(all: readonly Drive[]): Effort {
  const earlier = all.filter(({ stoppedBecause }) => stoppedBecause === null);
  if (earlier.length === 0) return ALL;
  // A limit that does not exist for one kind is a finding; the other kinds only need to confirm it.
  if (earlier.some(({ denial }) => denial === null)) return { small: SMALL, large: 0, waitBetween: false };
  const far = earlier.some(({ served }) => served > SMALL + SOME_LARGE);
  return far ? { ...ALL, waitBetween: false } : { small: SMALL, large: SOME_LARGE, waitBetween: false };
}

/**
 * Uses a key up with one kind of traffic.
 *
 * @param lagS maximum delay between exceeding the limit and the first denial, seconds.
 */
export async function drive(t: Session, key: Key, kind: Kind, lagS: number, effort: Effort = ALL): Promise<Drive> {
  const served: Response[] = [];
  const own: RequestSpec = { key, endpoint: kind.endpoint, mode: kind.mode, intent: "any", repeats: false };
  const { small, ...sizes } = asksOf(kind, own);
  let { large } = sizes;
  const outcome = (denial: Response | null, waitedS: number, stoppedBecause: string | null = null): Drive =>
    driven(kind, served, denial, waitedS, stoppedBecause);
  let hasWaited = false;
  const most = t.target.budget.outputTokens * SHARE_OF_BUDGET;
  let tokens = 0;
  let budgetSpent: string | null = null;
  let refused = 0;
  const sendOne = async (request: RequestSpec) => {
    const response = await t.send(request);
    if (response.admitted && kind.inTurns === true && (await t.hasModel("upstreamError", kind.endpoint)))
      await t.send({ ...own, model: "upstreamError", intent: "invalid" });
    return response;
  };
  const ends = [effort.small, SMALL + SOME_LARGE, effort.small + effort.large];
  for (let sent = 0; sent < effort.small + effort.large; ) {
    if (sent === SMALL + SOME_LARGE && effort.waitBetween) {
      const { denial, waitedS } = await pollUntilDenied(t, small, lagS);
      if (denial !== null) return outcome(denial, waitedS);
    }
    if (sent >= SMALL + SOME_LARGE && tokens > most) {
      budgetSpent = `the run's budget of output tokens has room for ${Math.floor(most)} of them on one key`;
      break;
    }
    const request = sent < effort.small ? small : large;
    // If replies are slow, several are sent concurrently.
    const end = Math.min(...ends.filter((one) => one > sent));
    const together = Math.min(
      t.replyTimes.concurrentRequests,
      end - sent,
      request === small ? Number.POSITIVE_INFINITY : LARGE_TOGETHER,
    );
    const responses = await Promise.all(Array.from({ length: together }, () => sendOne(request)));
    sent += together;
    for (const one of responses) {
      tokens += outputTokensOf(one);
      if (one.admitted) served.push(one);
    }
    const denial = responses.find(isSpendingDenial);
    if (denial !== undefined) return outcome(denial, 0);
    const failed = responses.filter(({ admitted }) => !admitted);
    const [response] = failed;
    if (response === undefined) {
      refused = 0;
      continue;
    }
    if (request !== small && failed.some(isRefusedForItself) && (await t.send(small)).admitted) {
      large = small;
      continue;
    }
    refused = failed.length === responses.length ? refused + failed.length : 0;
    // A key that is no longer served while another one is has been stopped, whatever the reason is called: the requirement is
    // judged by the response.
    if (refused < STOPPED) await t.wait(PAUSE_MS);
    else if (await isOtherServed(t, kind)) return outcome(response, 0);
    else if (hasWaited) return outcome(null, 0, `other keys were not served either: ${response.summary}`);
    else {
      await t.wait(TROUBLE_MS, "the account to be served again");
      hasWaited = true;
      refused = 0;
    }
  }
  const { denial, waitedS } = await pollUntilDenied(t, small, lagS);
  return outcome(denial, waitedS, denial === null ? budgetSpent : null);
}

/** A 4xx that names neither money nor a limit: the gateway may not accept this request. */
function isRefusedForItself({ status = 0 }: Response): boolean {
  return status >= 400 && status < 500 && status !== 402 && status !== 429;
}

/** Whether a key that is not used up is served with the same kind of traffic. */
async function isOtherServed(t: Session, { endpoint, mode }: Kind): Promise<boolean> {
  return (await t.send({ key: "valid", endpoint, mode, intent: "any", repeats: false })).admitted;
}

/** Polls until a denial comes, for a tally that lags. */
export async function pollUntilDenied(
  t: Session,
  request: RequestSpec,
  lagS: number,
): Promise<Pick<Drive, "denial" | "waitedS">> {
  const startUs = t.nowUs();
  const waitedS = () => (t.nowUs() - startUs) / 1_000_000;
  while (waitedS() < lagS) {
    await t.wait(POLL_MS, "charges to be settled");
    const response = await t.send(request);
    if (isSpendingDenial(response)) return { denial: response, waitedS: waitedS() };
  }
  return { denial: null, waitedS: waitedS() };
}

function asksOf(kind: Kind, own: RequestSpec): { readonly small: RequestSpec; readonly large: RequestSpec } {
  if (kind.cut === true) {
    const cut: RequestSpec = { ...own, prompt: LONG_TEXT, maxTokens: CUT_TOKENS };
    return { small: cut, large: cut };
  }
  const limit: RequestSpec = kind.endpoint === "messages" ? { maxTokens: 2_000 } : {};
  if (kind.inTurns === true)
    return {
      small: { ...own, prompt: turns("Please go on.") },
      large: { ...own, prompt: turns(LONG_TEXT), ...limit },
    };
  return { small: own, large: { ...own, prompt: LONG_TEXT, ...limit } };
}

function driven(
  kind: Kind,
  served: readonly Response[],
  denial: Response | null,
  waitedS: number,
  stoppedBecause: string | null = null,
): Drive {
  return { kind, served: served.length, first: served[0] ?? null, denial, waitedS, stoppedBecause };
}

/** Number of concurrent long streams, and of rounds. */
const LONG_AT_ONCE = 6;
const LONG_ROUNDS = 8;

/** An expensive stream that takes seconds. */
export function longStream(key: Key): RequestSpec {
  return { key, mode: "streaming", model: "stream", prompt: LONG_TEXT, intent: "any" };
}

/** Uses a key up with long streams, several concurrently because each takes seconds. */
export async function driveLong(t: Session, key: Key, lagS: number): Promise<Drive> {
  const kind: Kind = { endpoint: t.dialect, mode: "streaming", long: true };
  const request: RequestSpec = { ...longStream(key), repeats: false };
  const served: Response[] = [];
  const outcome = (denial: Response | null, waitedS: number) => driven(kind, served, denial, waitedS);
  for (let round = 0; round < LONG_ROUNDS; round++) {
    const responses = await Promise.all(Array.from({ length: LONG_AT_ONCE }, () => t.send(request)));
    served.push(...responses.filter(({ admitted }) => admitted));
    const denial = responses.find(isSpendingDenial);
    if (denial !== undefined) return outcome(denial, 0);
    if (served.length === 0) return outcome(null, 0);
  }
  const { denial, waitedS } = await pollUntilDenied(t, { key, ...kind, intent: "any", repeats: false }, lagS);
  return outcome(denial, waitedS);
}

/** Any refusal that a used-up key may get, correctly named or not: the requirements are judged, not assumed. */
export function isSpendingDenial(response: Response): boolean {
  const { status = 0, reason } = response;
  if (status === 429) return !isLimitReason(reason);
  return status === 402 || (status >= 400 && status < 500);
}

export function describeKind({ endpoint, mode, long, inTurns, cut }: Kind): string {
  if (cut === true) return `${endpoint}, replies that max_tokens cuts`;
  if (inTurns === true) return `${endpoint}, conversations and failing requests, alternately`;
  return `${endpoint}, ${mode === "non-streaming" ? "non-streaming" : long === true ? "long streams" : "streamed"}`;
}
