import {
  defineStepScenario,
  limitedFor,
  observationOf,
  type RequestSpec,
  type Response,
  type Step,
  scheduleOn,
} from "../../../src/checks/index.ts";
import { limitOfUnnamed } from "../../../src/limits/index.ts";
import type { Key, Limits, Target } from "../../../src/target/index.ts";
import { expectedDenial } from "../../shared/judge/expected-denial.ts";
import { limitDenials } from "../denials.ts";
import { untilQuiet } from "../paced.ts";
import { atOnce, longStream } from "../send.ts";
import { sendExtraBurst, sendExtras, sendFreed, sendLate } from "./extra-requests.ts";
import { fillLimit, inOtherDialect, lateIn, tryOther, typicalMs } from "./fill.ts";
import { releaseSome } from "./partial-release.ts";
import {
  beyond,
  type ConcurrencyRecording,
  type ConcurrencyRun,
  evenSpacingMs,
  hasRoomForWaves,
  NOTHING_SENT,
  spacingMsOf,
} from "./recording.ts";
import { NOTICE_MS } from "./release-causes.ts";
import { evenly, SETTLE_MS, wavesAfterRelease } from "./release-waves.ts";

/** A number of requests that depends on the account's limits. */
const perLimit = (count: (limits: Limits) => number) => (target: Target) => {
  const limits = limitedFor(target, "concurrency")?.limits;
  return limits === undefined ? 0 : count(limits);
};

/** The same, for a step that needs a high rate. */
const ifRateAllows = (ofLimit: number, more: number) =>
  perLimit((limits) => (hasRoomForWaves(limits) ? ofLimit * limits.inFlight + more : 0));

const hasRoomInRate = ({ limits, spaced }: ConcurrencyRecording): boolean => hasRoomForWaves(limits) && !spaced;

/** A slow non-streaming reply, on its own connection. */
function slowReply(key: Key): RequestSpec {
  return { key, mode: "non-streaming", model: "slow", intent: "any", freshConnection: true };
}

/**
 * A burst far over the limit; the limit in flight, with extra requests early and late; and waves up to the limit after every
 * cause of release.
 */
const STEPS: readonly Step<ConcurrencyRun, ConcurrencyRecording>[] = [
  {
    name: "burst",
    cost: {
      requests: perLimit((limits) => (hasRoomForWaves(limits) ? 3 * limits.inFlight : limits.inFlight + 8)),
      waitS: 5,
    },
    run(run) {
      const { t, account, limits, long } = run;
      // A quick run has no time to do it alone: it uses another account, concurrently with the burst.
      if (t.run.isQuick) run.trying = tryOther(t, { ...inOtherDialect(run), key: "valid" });
      // Keys take turns: if the requests of one are not counted, too many are admitted.
      const both = account.second === undefined ? [long] : [long, { ...long, key: account.second }];
      return atOnce(t, both, limits.inFlight + beyond(limits));
    },
  },
  {
    name: "spaced",
    async run({ t, limits }, { burst }) {
      const isShort = evenSpacingMs(limits) * burst.length < typicalMs(burst) * 0.7;
      await t.wait(SETTLE_MS);
      return isShort && burst.some(limitDenials(unnamedIn(burst, limits)).isRate);
    },
  },
  {
    // Once more, at half the account's rate.
    name: "burst",
    when: ({ spaced }) => spaced,
    async run({ t, limits, long }, { burst }) {
      const responses = await evenly(t, long, burst.length, evenSpacingMs(limits));
      await t.wait(SETTLE_MS);
      return responses;
    },
  },
  { name: "unnamed", run: ({ limits }, { burst }) => unnamedIn(burst, limits) },
  { name: "unnamedLater", run: ({ limits }, { unnamed }) => (hasRoomForWaves(limits) ? unnamed : "rate") },
  {
    name: "trial",
    cost: { requests: 4 },
    run: (run) => run.trying ?? tryOther(run.t, inOtherDialect(run)),
  },
  {
    name: "fills",
    cost: { requests: perLimit(({ inFlight }) => inFlight) },
    run: fillLimit,
  },
  { name: "extras", cost: { requests: 26 }, run: sendExtras },
  { name: "spelled", run: ({ spelled }) => spelled },
  { name: "extraBurst", cost: { requests: 8 }, run: sendExtraBurst },
  { name: "late", cost: { requests: 2 }, run: sendLate },
  { name: "freed", cost: { requests: 2 }, run: sendFreed },
  { name: "held", cost: { requests: 0, waitS: 4 }, run: ({ streams }) => Promise.all(streams.map(({ done }) => done)) },
  { name: "others", cost: { requests: 10 }, run: ({ sendingToOthers }) => sendingToOthers ?? [] },
  {
    name: "nonStreaming",
    cost: { requests: ifRateAllows(3, 0), waitS: 5 },
    onlyInFullRun: true,
    when: hasRoomInRate,
    run: async ({ t, account, limits }) =>
      (await t.hasModel("slow")) ? atOnce(t, [slowReply(account.key)], limits.inFlight + beyond(limits)) : [],
  },
  {
    name: "lateNonStreaming",
    cost: { requests: ifRateAllows(1, 1), waitS: 5 },
    onlyInFullRun: true,
    dependsOn: "nonStreaming",
    run: (run, { nonStreaming }) => lateIn(run, slowReply(run.account.key), typicalMs(nonStreaming)),
  },
  {
    name: "lateStream",
    cost: { requests: ifRateAllows(1, 1), waitS: 5 },
    onlyInFullRun: true,
    dependsOn: "nonStreaming",
    run: (run, { nonStreaming }) =>
      lateIn(run, { ...slowReply(run.account.key), mode: "streaming" }, typicalMs(nonStreaming)),
  },
  {
    name: "waves",
    cost: { requests: ifRateAllows(29, 240), waitS: 10, quick: { requests: ifRateAllows(11, 15), waitS: 4 } },
    when: ({ limits }) => hasRoomForWaves(limits),
    async run({ t, account, long }, recording) {
      await t.wait(SETTLE_MS);
      const pacing = { spacingMs: spacingMsOf(recording), unnamed: recording.unnamedLater };
      return wavesAfterRelease(t, account, long, pacing);
    },
  },
  {
    name: "partialReleases",
    cost: { requests: ifRateAllows(2, 26), quick: { requests: ifRateAllows(1, 13) } },
    when: hasRoomInRate,
    async run({ t, account, long }) {
      // A quick run aborts the streams of its last wave.
      if (t.run.isQuick) await t.wait(NOTICE_MS[0]);
      await t.afterOthers();
      return releaseSome(t, account, long);
    },
  },
];

/** Which limit the unnamed 429s of a burst are about. */
const unnamedIn = (burst: readonly Response[], { inFlight }: Limits) =>
  limitOfUnnamed(burst.map(observationOf), inFlight);

/** Requests up to and over the concurrency limit, on the account with the lowest one. */
export const concurrencyScenario = defineStepScenario<ConcurrencyRun, ConcurrencyRecording>({
  id: "limits.concurrency",
  needs: ["limited.concurrency", "model.stream"],
  schedule: (target) => scheduleOn(limitedFor(target, "concurrency")),
  reaches: "concurrency",
  async begin(t) {
    const account = t.limited("concurrency");
    const { limits, key } = account;
    // If the rate was measured on the same account, its window would deny requests that test concurrency.
    if (account.shared || limitedFor(t.target, "rate")?.key === key) await untilQuiet(t, key);
    return {
      shared: { t, account, limits, long: longStream(key), streams: [], startUs: 0, spelled: [] },
      recording: { ...NOTHING_SENT, limits, expected: expectedDenial(t, "concurrency_limit_exceeded") },
    };
  },
  steps: STEPS,
  assume({ burst, unnamed, spaced }, verdict) {
    const { isRate, isConcurrency } = limitDenials(unnamed);
    const rate = burst.find(isRate);
    // A limiter without burst denies concurrent requests for their rate; then the burst says nothing about concurrency.
    if (rate !== undefined && !burst.some(isConcurrency) && !spaced)
      verdict.inconclusive(`the rate limit was reached before the concurrency limit (${rate.summary})`);
  },
});
