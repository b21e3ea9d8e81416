import {
  defineStepScenario,
  limitedFor,
  type RequestSpec,
  type Response,
  type Step,
  scheduleOn,
} from "../../../src/checks/index.ts";
import { WINDOW_OVER_MS } from "../../../src/limits/index.ts";
import type { Target } from "../../../src/target/index.ts";
import { spellingsOf } from "../../shared/cases/spellings.ts";
import { expectedDenial } from "../../shared/judge/expected-denial.ts";
import { type Burst, burst, endedMs, startedMs } from "../burst.ts";
import { admittedIn, isRateDenial, isRefused } from "../denials.ts";
import { sendToOtherAccounts } from "../other-accounts.ts";
import { paced, RATE_WINDOW_LABEL, untilQuiet } from "../paced.ts";
import { sendPlain, sendPlainAtOnce } from "../send.ts";
import { NOTHING_SENT, type RateRecording, type RateRun } from "./recording.ts";
import { lastDenialOf, reachLimitAgain, repeatExcess } from "./second-burst.ts";
import { latestDenial, type TestedWait, testShortestWait, waitAndRetry } from "./tested-wait.ts";
import { kindsOf, ROUNDS, sendPlainUpTo, triesWhileDenied, tryLater } from "./while-denied.ts";

/** A wait that leaves time to send requests later in it, ms. */
const LONG_WAIT_MS = 25_000;
/** A longer wait is sufficient, or nearly so, with any one-minute window, ms. */
const TELLING_WAIT_MS = 45_000;
/** Share of the limit at which evenly paced traffic must be admitted. */
const SAFE_SHARE = 0.8;

/** A number of requests that depends on the account's rate. */
const perMinute = (share: number, more = 0) => ({
  requests: (target: Target) => share * (limitedFor(target, "rate")?.limits.rpm ?? 0) + more,
});

const STEPS: readonly Step<RateRun, RateRecording>[] = [
  {
    name: "first",
    cost: perMinute(1),
    run: ({ t, plan, chat }) => burst(t, { ...plan, what: `${t.dialect}, one key`, specs: chat }),
  },
  {
    name: "whileDenied",
    // In a full run, the bursts that follow are rarely all needed, which leaves room to reach the limit again for this.
    cost: { requests: 45, quick: perMinute(1.5, 45) },
    when: ({ first }) => first.responses.some(isRefused),
    async run(run) {
      run.kinds = await kindsOf(run.t, run.account);
      return triesWhileDenied(run.t, run.account.key, run.kinds, () => toTheLimit(run));
    },
  },
  {
    name: "spelled",
    cost: { requests: 20 },
    onlyInFullRun: true,
    dependsOn: "whileDenied",
    run: (run) => triesWhileDenied(run.t, run.account.key, spellingsOf(run.account.key), () => toTheLimit(run)),
  },
  {
    name: "extraBurst",
    cost: { requests: 6 },
    dependsOn: "whileDenied",
    run(run) {
      const { t, account, limits } = run;
      // Concurrently: a denial that spills over to other accounts may do so only during a burst.
      run.sendingToOthers = sendToOtherAccounts(t, account, { tries: 3, again: { key: account.key } });
      // It is awaited by the next step; an error that ends the run earlier is reported there.
      run.sendingToOthers.catch(() => undefined);
      return sendPlainAtOnce(t, account.key, Math.max(1, Math.min(6, limits.inFlight)));
    },
  },
  {
    name: "others",
    cost: { requests: 9, waitS: 5 },
    dependsOn: "whileDenied",
    run: ({ sendingToOthers }) => sendingToOthers ?? [],
  },
  {
    name: "laterDenied",
    cost: { requests: 45 },
    onlyInFullRun: true,
    dependsOn: "whileDenied",
    when({ first, extraBurst }) {
      const latest = [...first.responses, ...extraBurst].findLast(isRateDenial);
      return (latest?.retryAfterWaitMs ?? 0) >= LONG_WAIT_MS;
    },
    run: ({ t, account, plan }) => tryLater(t, account, plan.parallel),
  },
  {
    name: "denial",
    cost: { requests: 3 },
    onlyInFullRun: true,
    dependsOn: "whileDenied",
    run: denialNow,
  },
  {
    name: "shortestWait",
    cost: { requests: 2 },
    onlyInFullRun: true,
    dependsOn: "denial",
    run: ({ t, kinds }, { denial, whileDenied }) =>
      denial === null ? null : testShortestWait(t, denial, whileDenied, kinds),
  },
  {
    name: "firstWait",
    cost: { requests: 36, waitS: 57 },
    onlyInFullRun: true,
    dependsOn: "denial",
    run: testFirstWait,
  },
  {
    name: "second",
    cost: perMinute(1),
    onlyInFullRun: true,
    dependsOn: "denial",
    run: reachLimitAgain,
  },
  {
    name: "lastDenial",
    cost: { requests: 1 },
    onlyInFullRun: true,
    dependsOn: "second",
    run: lastDenialOf,
  },
  {
    name: "secondWait",
    cost: { requests: 1 },
    onlyInFullRun: true,
    dependsOn: "lastDenial",
    // A wait of nearly a minute cannot be much too short.
    when: ({ lastDenial }) => (lastDenial?.retryAfterWaitMs ?? Number.POSITIVE_INFINITY) <= TELLING_WAIT_MS,
    run: ({ t, messages: [request = {}] }, { lastDenial }) =>
      lastDenial === null ? null : waitAndRetry(t, lastDenial, request),
  },
  {
    name: "third",
    cost: perMinute(0.5, 3),
    onlyInFullRun: true,
    dependsOn: "second",
    run: repeatExcess,
  },
  {
    name: "paced",
    onlyInFullRun: true,
    dependsOn: "whileDenied",
    run: paceWhereEarly,
  },
];

/**
 * One minute of overload on the account with the lowest rate. All rate checks share this scenario: it costs a minute, and its
 * bursts, waits and denials are evidence for many requirements.
 */
export const rateScenario = defineStepScenario<RateRun, RateRecording>({
  id: "limits.rate",
  needs: ["limited.rate"],
  schedule: (target) => scheduleOn(limitedFor(target, "rate")),
  reaches: "rate",
  async begin(t) {
    const account = t.limited("rate");
    const { limits, key } = account;
    await untilQuiet(t, key);
    const plan = { most: limits.rpm * 2 + 2, parallel: Math.max(1, Math.min(8, limits.inFlight - 1)) };
    const chat: RequestSpec[] = [{ key }, { key, mode: "streaming" }];
    const shared: RateRun = { t, account, limits, plan, chat, messages: [], kinds: {}, undenied: [] };
    const expected = expectedDenial(t, "rate_limit_exceeded");
    return { shared, recording: { ...NOTHING_SENT, limits, expected, undenied: shared.undenied } };
  },
  steps: STEPS,
});

/** Brings a denied account to its limit again; a burst that met no denial is recorded. */
async function toTheLimit({ t, plan, chat, undenied }: RateRun): Promise<Burst> {
  const again = await burst(t, { ...plan, what: `to the limit again, ${t.dialect}, one key`, specs: chat.slice(0, 1) });
  if (!again.responses.some(isRefused)) undenied.push(again);
  return again;
}

/** A rate denial; brings the account to its limit again if necessary. */
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

async function testFirstWait(run: RateRun, { laterDenied }: RateRecording): Promise<TestedWait | null> {
  const { t, account, plan } = run;
  if (laterDenied.length > 0) await sendPlainUpTo(t, account, plan.parallel);
  const request: RequestSpec = { key: account.key };
  const denial = await latestDenial(t, request, async () => (await toTheLimit(run)).responses.some(isRefused));
  if (denial === null) return null;
  const firstWait = await waitAndRetry(t, denial, request);
  if (isRateDenial(firstWait.retried)) await t.wait(WINDOW_OVER_MS, RATE_WINDOW_LABEL);
  return firstWait;
}

/** Paces the requests of bursts that were denied early: a limiter with little burst must admit these. */
async function paceWhereEarly(run: RateRun, { first, second }: RateRecording): Promise<Response[]> {
  const safe = run.limits.rpm * SAFE_SHARE;
  const isFromQuiet = second !== null && startedMs(second) - endedMs(first) >= WINDOW_OVER_MS - 1_000;
  const early = (isFromQuiet ? [first, second] : [first]).filter(
    ({ responses }) => admittedIn(responses) < (second === null ? safe : safe - 1),
  );
  const specs = early.flatMap((one) => (one === first ? run.chat : run.messages));
  return early.length > 0 ? paced(run.t, specs, safe) : [];
}
