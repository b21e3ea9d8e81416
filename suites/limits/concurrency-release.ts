import { atLeast, atMost, type Check, defineCheck, type Verdict } from "../../src/checks/index.ts";
import { concurrencyScenario } from "./concurrency-scenario.ts";
import { mostInFlight } from "./in-flight.ts";
import { admittedIn, isServed, limitDenials, type Unnamed } from "./limit-denials.ts";
import type { Wave } from "./release-waves.ts";

/** Waves whose missing slots break the MUST requirement: the requests before them had ended by themselves. */
function judgeWave({ what, expected, answers, later }: Wave, unnamed: Unnamed, verdict: Verdict): void {
  const left = what.includes("client left");
  const last = later ?? answers;
  const served = admittedIn(last);
  // What the rate denied says nothing about slots.
  if (served < expected && last.some(limitDenials(unnamed).isRate)) return;
  const seen = { in: last.find(limitDenials(unnamed).isConcurrency), because: `slots free after ${what}` };
  if (left) verdict.should("LIMIT-CONC-5", served, atLeast(expected), seen);
  else verdict.must("LIMIT-CONC-4", served, atLeast(expected), seen);
  const running = mostInFlight(last);
  verdict.must("LIMIT-CONC-2", running, atMost(expected), {
    in: last.findLast(isServed),
    because: `running at one moment after ${what}`,
  });
}

const released = defineCheck({
  id: "limits.concurrency-released",
  scenario: concurrencyScenario,
  title: "Finished requests free their slots, however they finished",
  covers: ["LIMIT-CONC-4", "LIMIT-CONC-2"],
  explains:
    "After finished, denied, refused and failed requests and broken streams, twice as many as there are slots, a full wave of simultaneous streams must be admitted, and one more denied; a wave that was not is sent once more 1.5 s later, because no moment is stated. A failure names what leaks slots, or gives back more than it took.",
  judge({ waves, unnamedLater }, verdict) {
    const own = waves.filter(({ what }) => !what.includes("client left"));
    if (own.length === 0) return verdict.notApplicable("the account's rate is too low for repeated full waves");
    for (const wave of own) judgeWave(wave, unnamedLater, verdict);
    if (verdict.findings.length === 0) verdict.inconclusive("the rate denied a part of every wave");
  },
});

const releasedOnce = defineCheck({
  id: "limits.concurrency-released-once",
  scenario: concurrencyScenario,
  title: "A request that ends gives back one slot, its own",
  covers: ["LIMIT-CONC-2"],
  explains:
    "Streams take all slots but one. In the one that is left requests finish, are denied, fail and break off; in a second attempt the client leaves one of the streams. Then several streams are tried at once: no more may be running than there are slots. A failure means that some endings free a slot that another request still holds.",
  judge({ partialReleases, limits }, verdict) {
    if (partialReleases.length === 0)
      return verdict.notApplicable("the account's rate is too low for repeated full waves");
    for (const { what, held, extras } of partialReleases) {
      verdict.must("LIMIT-CONC-2", mostInFlight([...held, ...extras]), atMost(limits.inFlight), {
        in: extras.findLast(isServed),
        because: `running at one moment after ${what}`,
      });
    }
  },
});

const abandoned = defineCheck({
  id: "limits.concurrency-abandoned",
  scenario: concurrencyScenario,
  title: "A request that its client gave up on stops counting",
  covers: ["LIMIT-CONC-5", "LIMIT-CONC-2"],
  explains:
    "Clients leave in the middle of streams and before non-streaming replies. A while later (2 s, once more after 10 s; how soon is not shown) a full wave should be admitted. A warning means that every client that leaves costs a slot.",
  judge({ waves, unnamedLater }, verdict) {
    const left = waves.filter(({ what }) => what.includes("client left"));
    if (left.length === 0) return verdict.notApplicable("the account's rate is too low for repeated full waves");
    for (const wave of left) judgeWave(wave, unnamedLater, verdict);
    if (verdict.findings.length === 0) verdict.inconclusive("the rate denied a part of every wave");
  },
});

/** What becomes of slots when requests have ended. */
export const RELEASE_CHECKS: readonly Check[] = [released, releasedOnce, abandoned];
