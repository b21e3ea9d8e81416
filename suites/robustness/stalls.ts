import { type Check, defineCheck, type Response } from "../../src/checks/index.ts";
import { median } from "../../src/core/index.ts";

/** Interval between light requests, ms, if the account's rate allows it. */
const TICK_MS = 200;
/** Part of the account's rate that the ticks may use. */
const SHARE = 0.15;
const MAX_MS = 45_000;

/** With more of our requests in flight, a wait may be legitimate work of the gateway. */
const QUIET_IN_FLIGHT = 10;
/** A tick that our own process sent or read late says nothing about the gateway. */
const OWN_LAG_MS = 60;

/** Fewer light requests show nothing: the rest of the run was over too soon, or it was never quiet. */
const MIN_TICKS = 5;

/** Thresholds above which a tick counts as an outlier: ms, and multiples of the median. */
const STALL_MS = 250;
const STALL_FACTOR = 20;
const LONG_STALL_MS = 1_000;
/** Stalls that end closer together than this are one, ms. */
const APART_MS = 1_000;

const stalls = defineCheck({
  id: "robustness.stalls",
  title: "The gateway does not stall",
  covers: ["STEADY-LATENCY"],
  explains:
    "Sends a light request (the model list) several times a second during the rest of the run. Only those at quiet moments are judged: few other requests in flight, and no delay in this process. A stall takes over 250 ms and twenty times the median; three of them, or two of over a second, are a warning: something blocks every request, such as garbage collection, a lock or a blocking call.",
  schedule: { order: "background" },
  cost: { requests: 210 },
  async run(t) {
    const intervalMs = Math.max(TICK_MS, 60_000 / ((t.target.limits?.rpm ?? 300) * SHARE));
    const ticks: { readonly response: Response; readonly busy: number }[] = [];
    const startedUs = t.nowUs();
    while (t.hasConcurrentChecks && (t.nowUs() - startedUs) / 1_000 < MAX_MS) {
      const busy = t.sent.inFlight;
      const response = await t.send({ endpoint: "models", repeats: false });
      ticks.push({ response, busy: Math.max(busy, t.sent.inFlight) });
      await t.wait(intervalMs);
    }
    return { ticks };
  },
  judge({ ticks }, verdict) {
    const quiet = ticks.filter(
      ({ busy, response }) => busy <= QUIET_IN_FLIGHT && response.exchange.ownLagMs < OWN_LAG_MS,
    );
    const served = quiet.map(({ response }) => response).filter(({ admitted }) => admitted);
    if (served.length < MIN_TICKS)
      return verdict.notApplicable(
        `${served.length} of ${ticks.length} light requests were served at a quiet moment: too few to see a stall`,
      );
    const middle = median(served.map(({ durationMs }) => durationMs));
    const slow = served.filter(({ durationMs }) => durationMs > Math.max(STALL_MS, middle * STALL_FACTOR));
    const episodes = slow.filter(
      ({ exchange }, at) => exchange.startedAtMs - (slow[at - 1]?.exchange.startedAtMs ?? 0) > APART_MS,
    );
    const long = episodes.filter(({ durationMs }) => durationMs > LONG_STALL_MS);
    const [worst] = [...episodes].sort((a, b) => b.durationMs - a.durationMs);
    verdict.should("STEADY-LATENCY", episodes.length >= 3 || long.length >= 2, false, {
      in: worst,
      because: `${episodes.length} of ${served.length} light requests stalled${worst === undefined ? "" : `, the longest for ${Math.round(worst.durationMs)} ms`}; median ${middle.toFixed(1)} ms`,
    });
  },
});

export const STALLS: readonly Check[] = [stalls];
