import type { Answer, Ask, Probe } from "../../src/conformance/index.ts";
import type { Limits } from "../../src/target/index.ts";
import { retryAfterMs } from "../../src/wire/index.ts";
import { admittedIn, type Burst, burst, isRateDenial, isRefused } from "./burst.ts";

/** Requests of one kind while the account was denied, with the denials of the first key before and after them. */
export type WhileDenied = {
  readonly kind: string;
  readonly before: Answer;
  readonly tries: readonly Answer[];
  readonly after: Answer;
  /** From the first to the last of them, seconds. */
  readonly seconds: number;
};

/** One promise of a denial and what became of it. */
export type Promised = {
  readonly denial: Answer;
  /** Wait that the denial asked for, ms; `null` when it gave no usable one, or one that was too long to wait for. */
  readonly waitMs: number | null;
  readonly retried: Answer;
};

export type RateRecording = {
  readonly limits: { readonly rpm: number; readonly inFlight: number };
  readonly first: Burst;
  readonly whileDenied: readonly WhileDenied[];
  /** Denied many times at once. */
  readonly storm: readonly Answer[];
  /** Requests of an unrelated account meanwhile. */
  readonly others: readonly Answer[];
  readonly promised: Promised | null;
  readonly second: Burst | null;
  /** A repetition of the burst that let too much through, when only one did. */
  readonly third: Burst | null;
  /** Evenly paced requests below the limit, when the first burst was denied early. */
  readonly paced: readonly Answer[];
};

/** A wait beyond this is longer than any one-minute rate can ask for. */
const LONGEST_WAIT_MS = 65_000;
/** After this time nothing of the past counts, whatever the window. */
const QUIET_MS = 61_000;
/** Share of the limit at which evenly paced traffic must pass. */
const SAFE_SHARE = 0.8;

/**
 * One minute of overload on an account, arranged so that it decides as much as possible: a burst of one key and dialect
 * up to the first denial; then, while denied, every other kind of request; the promise of the last denial; a second burst
 * of the other dialect and key.
 */
export async function rateScenario(t: Probe): Promise<RateRecording> {
  const account = t.limited("rate");
  const { limits, key } = account;
  const second = account.second ?? key;
  if (account.shared) await t.wait(QUIET_MS);
  const plan = { most: limits.rpm * 2 + 2, parallel: Math.max(1, Math.min(8, limits.inFlight - 1)) };
  const chat: Ask[] = [
    { key, endpoint: "chat" },
    { key, endpoint: "chat", mode: "stream" },
  ];
  const first = await burst(t, { ...plan, what: "chat, one key", asks: chat });
  const nothing = {
    limits,
    first,
    whileDenied: [],
    storm: [],
    others: [],
    promised: null,
    second: null,
    third: null,
    paced: [],
  };
  if (!first.answers.some(isRefused)) return nothing;

  const whileDenied = await triesWhileDenied(t, key, kindsOf(t, account), plan.parallel);
  const [storm, others] = await Promise.all([
    Promise.all(
      Array.from(
        { length: Math.max(1, Math.min(6, limits.inFlight)) },
        () => t.begin({ key, endpoint: "chat", intent: "either" }).done,
      ),
    ),
    othersMeanwhile(t, account.shared),
  ]);
  const denial = await t.begin({ key, endpoint: "chat", intent: "either" }).done;
  if (!isRateDenial(denial)) return { ...nothing, whileDenied, storm, others };

  const promised = await keepPromise(t, denial, { key, endpoint: "chat" });
  if (isRateDenial(promised.retried)) await t.wait(QUIET_MS);
  const messages: Ask[] = [
    { key: second, endpoint: "messages" },
    { key: second, endpoint: "messages", mode: "stream" },
  ];
  const next = await burst(t, {
    ...plan,
    what: "messages, other key",
    asks: streamsMessages(whileDenied) ? messages : messages.slice(0, 1),
  });
  const suspicious = [first, next].filter((run) => tooMany(run, limits));
  const [once] = suspicious;
  let third: Burst | null = null;
  if (suspicious.length === 1 && once !== undefined) {
    const last = next.answers.findLast(isRateDenial) ?? denial;
    await keepPromise(t, last, once === first ? { key, endpoint: "chat" } : { key: second, endpoint: "messages" });
    third = await burst(t, { ...plan, what: once.what, asks: once === first ? chat : messages });
  }
  const paced = admittedIn(first.answers) < limits.rpm * SAFE_SHARE ? await pacedBelow(t, key, limits) : [];
  return { limits, first, whileDenied, storm, others, promised, second: next, third, paced };
}

/** More than any window lets through from quiet, save the one fixed window whose edge lies inside the burst. */
export function tooMany({ answers, seconds }: Burst, { rpm }: Limits): boolean {
  return admittedIn(answers) > rpm + 1 + Math.ceil((seconds * rpm) / 60);
}

function kindsOf(t: Probe, account: ReturnType<Probe["limited"]>): Record<string, Ask> {
  const { key, second } = account;
  const { tools, stream } = t.target.models;
  return {
    ...(second === undefined ? {} : { "other key": { key: second, endpoint: "chat" as const } }),
    "chat streams": { key, endpoint: "chat", mode: "stream" },
    messages: { key, endpoint: "messages" },
    "messages streams": { key, endpoint: "messages", mode: "stream" },
    ...(tools === undefined && stream === undefined
      ? {}
      : { "other model": { key, endpoint: "chat", model: { id: tools ?? stream ?? "" } } }),
    "model list": { key, endpoint: "models" },
  };
}

const TRIES = 3;

/** Tries each kind while the first key is denied, and again when the window turned over meanwhile. */
async function triesWhileDenied(
  t: Probe,
  key: Ask["key"] & {},
  kinds: Record<string, Ask>,
  parallel: number,
): Promise<WhileDenied[]> {
  const same: Ask = { key, endpoint: "chat", intent: "either" };
  const tried: WhileDenied[] = [];
  for (const [kind, ask] of Object.entries(kinds)) {
    for (let round = 0; round < 3; round++) {
      const startUs = t.nowUs();
      const before = await t.begin(same).done;
      const tries: Answer[] = [];
      for (let count = 0; count < TRIES; count++) tries.push(await t.begin({ ...ask, intent: "either" }).done);
      const after = await t.begin(same).done;
      const entry = { kind, before, tries, after, seconds: (t.nowUs() - startUs) / 1_000_000 };
      if (round === 0 || isBracketed(entry)) tried.push(entry);
      if (isBracketed(entry)) break;
      tried.splice(-1, 1, entry);
      await burst(t, { what: "to the limit again", asks: [same], most: 1_000, parallel });
    }
  }
  return tried;
}

/** Denied before and after: what was admitted between did not go by the same count. */
export function isBracketed({ before, after }: WhileDenied): boolean {
  return isRefused(before) && isRefused(after);
}

function streamsMessages(whileDenied: readonly WhileDenied[]): boolean {
  const streams = whileDenied.find(({ kind }) => kind === "messages streams");
  return streams === undefined || streams.tries.every(({ status }) => status === 429 || status === 200);
}

/** An unrelated account keeps its own count. Goes through its pace, but its denials are wanted as they are. */
async function othersMeanwhile(t: Probe, shared: boolean): Promise<Answer[]> {
  const key = shared ? (t.target.keys.other === undefined ? null : "other") : "valid";
  if (key === null) return [];
  const answers: Answer[] = [];
  for (let count = 0; count < 3; count++)
    answers.push(await t.ask({ key, endpoint: "chat", intent: "either", patient: false }));
  return answers;
}

/** Waits as the denial says, counted from its arrival, and sends one request. */
async function keepPromise(t: Probe, denial: Answer, ask: Ask): Promise<Promised> {
  const { startedAtMs, timeline } = denial.exchange;
  const arrivedMs = startedAtMs + (timeline.endUs - timeline.dueUs) / 1_000;
  const told = retryAfterMs(denial.header("retry-after") ?? "", arrivedMs);
  const usable = told !== undefined && told <= LONGEST_WAIT_MS;
  const elapsedMs = (t.nowUs() - timeline.endUs) / 1_000;
  await t.wait(Math.max(0, (usable ? told : QUIET_MS) - elapsedMs));
  return { denial, waitMs: usable ? told : null, retried: await t.begin({ ...ask, intent: "either" }).done };
}

/** Evenly paced traffic at a safe share of the limit, for one minute after a quiet one. */
async function pacedBelow(t: Probe, key: Ask["key"] & {}, { rpm }: Limits): Promise<Answer[]> {
  await t.wait(QUIET_MS);
  const count = Math.max(1, Math.floor(rpm * SAFE_SHARE));
  const startUs = t.nowUs();
  const sent: Promise<Answer>[] = [];
  for (let index = 0; index < count; index++) {
    await t.wait(Math.max(0, (index * 60_000) / count - (t.nowUs() - startUs) / 1_000));
    sent.push(t.begin({ key, endpoint: "chat", intent: "either" }).done);
  }
  return Promise.all(sent);
}
