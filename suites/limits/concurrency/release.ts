import { type Check, defineCheck } from "../../../src/checks/index.ts";
import { atLeast, atMost, type Verdict } from "../../../src/judging/index.ts";
import type { LimitName } from "../../../src/limits/index.ts";
import { admittedIn, isServed, limitDenials, strayFailures } from "../denials.ts";
import { mostInFlight } from "./in-flight.ts";
import type { Wave } from "./release-waves.ts";
import { concurrencyScenario } from "./scenario.ts";

const RATE_TOO_LOW = "the account's rate is too low for repeated full waves";

/** Judges that a wave was admitted up to the limit. This is a MUST if the requests before it ended normally. */
function judgeWave(wave: Wave, room: number, unnamed: LimitName, verdict: Verdict): void {
  const { what, disconnected, expected, responses, later } = wave;
  const last = later ?? responses;
  const served = admittedIn(last);
  // A rate denial says nothing about concurrency.
  if (served < room && last.some(limitDenials(unnamed).isRate)) return;
  const seen = { in: last.find(limitDenials(unnamed).isConcurrency), because: `admitted after ${what}` };
  const least = atLeast(room - strayFailures(last).length);
  if (disconnected) verdict.should("LIMIT-CONC-5", served, least, seen);
  else verdict.must("LIMIT-CONC-4", served, least, seen);
  const running = mostInFlight(last);
  verdict.must("LIMIT-CONC-2", running, atMost(expected), {
    in: last.findLast(isServed),
    because: `in flight at one moment after ${what}`,
  });
}

/**
 * How many requests a wave has room for: as many as the wave before it. Capacity that leaked earlier says nothing about requests
 * that have ended since. If none was left, or the rate limit denied some requests, the whole limit is expected.
 */
function roomFor(waves: readonly Wave[], index: number, unnamed: LimitName): number {
  const { expected } = waves[index] as Wave;
  const before = waves[index - 1];
  const responses = before?.later ?? before?.responses ?? [];
  const { isRate, isConcurrency } = limitDenials(unnamed);
  const found = responses.filter((response) => !isConcurrency(response)).length;
  return found === 0 || responses.some(isRate) ? expected : Math.min(expected, found);
}

/** Judges the waves that were sent after clients had disconnected, or the others. */
function judgeWaves(all: readonly Wave[], disconnected: boolean, unnamed: LimitName, verdict: Verdict): void {
  const isOwn = (wave: Wave) => wave.disconnected === disconnected;
  if (!all.some(isOwn)) verdict.notApplicable(RATE_TOO_LOW);
  for (const [index, wave] of all.entries())
    if (isOwn(wave)) judgeWave(wave, roomFor(all, index, unnamed), unnamed, verdict);
  if (verdict.findings.length === 0) verdict.inconclusive("the rate denied a part of every wave");
}

const released = defineCheck({
  id: "limits.concurrency-released",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "Requests that have ended stop counting, however they ended",
  covers: ["LIMIT-CONC-4", "LIMIT-CONC-2"],
  explains:
    "After finished, denied, rejected and failed requests and broken streams, twice the limit of each, concurrent streams up to the limit must be admitted, and one more denied. A wave that was denied too early is sent again 1.5 s later, because the specification names no time. A failure names the requests that still count, or were counted down twice.",
  judge({ waves, unnamedLater }, verdict) {
    judgeWaves(waves, false, unnamedLater, verdict);
  },
});

const releasedOnce = defineCheck({
  id: "limits.concurrency-released-once",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "A request that ends makes room for exactly one other",
  covers: ["LIMIT-CONC-2"],
  explains:
    "Streams fill all but one place of the limit; in that place requests finish, are denied, fail and are interrupted; in a second attempt the client disconnects from one stream. Then several streams are sent at once: no more than the limit may be in flight. A failure means that some endings are counted down twice.",
  judge({ partialReleases, limits }, verdict) {
    if (partialReleases.length === 0) return verdict.notApplicable(RATE_TOO_LOW);
    for (const { what, held, extras } of partialReleases) {
      verdict.must("LIMIT-CONC-2", mostInFlight([...held, ...extras]), atMost(limits.inFlight), {
        in: extras.findLast(isServed),
        because: `in flight at one moment after ${what}`,
      });
    }
  },
});

const abandoned = defineCheck({
  id: "limits.concurrency-abandoned",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "A request whose client disconnected stops counting",
  covers: ["LIMIT-CONC-5", "LIMIT-CONC-2"],
  explains:
    "Clients disconnect mid-stream and before non-streaming replies. After 2 s, and again after 10 s (the specification names no time), streams up to the limit should be admitted. A warning means that requests of disconnected clients count for too long, or forever.",
  judge({ waves, unnamedLater }, verdict) {
    judgeWaves(waves, true, unnamedLater, verdict);
  },
});

/** What counts as in flight after requests have ended. */
export const RELEASE_CHECKS: readonly Check[] = [released, releasedOnce, abandoned];
