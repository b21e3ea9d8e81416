import { type Check, defineCheck, type Response } from "../../../src/checks/index.ts";
import { atMost, that, type Verdict } from "../../../src/judging/index.ts";
import { isRateDenial, isServed } from "../denials.ts";
import type { RateRecording } from "./recording.ts";
import { rateScenario } from "./scenario.ts";
import { isBracketed } from "./while-denied.ts";

/** Judges that a kind of request did not bypass the limit while the account was denied. */
export function judgeKind(
  { whileDenied, laterDenied, limits }: RateRecording,
  kind: string,
  say: (admitted: number, allowed: number, first: Response | undefined, why: string) => void,
  verdict: Verdict,
): void {
  const entry = whileDenied.find((candidate) => candidate.kind === kind);
  if (entry === undefined) return;
  if (!isBracketed(entry)) verdict.inconclusive(`the account was admitted again during this test: ${kind}`);
  const later = laterDenied.filter((candidate) => candidate.kind === kind);
  for (const { tries, seconds } of [entry, ...later]) {
    const admitted = tries.filter(isServed);
    // Capacity that becomes free in between may go to any request.
    const allowed = 1 + Math.floor((seconds * limits.rpm) / 60);
    const why = `${kind}: ${admitted.length} of ${tries.length} served while the account was denied`;
    if (admitted.length > 0 && allowed >= tries.length) {
      verdict.markUndecided(
        "inconclusive",
        `${why}, in ${seconds.toFixed(1)} s: in that time there may have been room for all of them`,
      );
      continue;
    }
    say(admitted.length, allowed, admitted[0] ?? tries[0], why);
  }
}

const sharedByKeys = defineCheck({
  id: "limits.rate-shared-by-keys",
  scenario: rateScenario,
  basis: "timing",
  title: "The keys of an account share its rate",
  covers: ["LIMIT-1", "LIMIT-5"],
  explains:
    "While one key of the account is denied by the rate limit, sends with the account's other key, and confirms that the first is still denied afterwards. The other key must be denied too: the limit belongs to the account.",
  needs: ["limited.rate.second"],
  judge(recording, verdict) {
    verdict.assume(recording.whileDenied.length > 0, "the account could be brought to its limit");
    judgeKind(
      recording,
      "other key",
      (admitted, allowed, first, why) =>
        verdict.must("LIMIT-1", admitted, atMost(allowed), { in: first, because: why }),
      verdict,
    );
    // Requests that are admitted here but not above mean that each dialect is counted separately.
    judgeKind(
      recording,
      "other key, messages",
      (admitted, allowed, first, why) =>
        verdict.should("LIMIT-5", admitted, atMost(allowed), { in: first, because: why }),
      verdict,
    );
  },
});

const sharedByKinds = defineCheck({
  id: "limits.rate-shared-by-kinds",
  scenario: rateScenario,
  basis: "timing",
  title: "Both dialects, streaming and non-streaming requests, all models and all clients share the account's rate",
  covers: ["LIMIT-5", "LIMIT-1", "LIMIT-RATE-1"],
  explains:
    "While the account's chat requests are denied by the rate limit, streams, conversations, the other dialect, another model and a request that looks like another client's are sent. Streams, conversations and other models must be denied too, the other dialect should be. Anything that is admitted is counted separately or not limited at all.",
  judge(recording, verdict) {
    verdict.assume(recording.whileDenied.length > 0, "the account could be brought to its limit");
    const requirements = {
      streams: "LIMIT-RATE-1",
      conversations: "LIMIT-RATE-1",
      "another client": "LIMIT-1",
      "other model": "LIMIT-1",
    } as const;
    for (const [kind, requirement] of Object.entries(requirements)) {
      judgeKind(
        recording,
        kind,
        (admitted, allowed, first, why) =>
          verdict.must(requirement, admitted, atMost(allowed), { in: first, because: why }),
        verdict,
      );
    }
    for (const kind of ["messages", "messages streams"]) {
      judgeKind(
        recording,
        kind,
        (admitted, allowed, first, why) =>
          verdict.should("LIMIT-5", admitted, atMost(allowed), { in: first, because: why }),
        verdict,
      );
    }
  },
});

const otherAccounts = defineCheck({
  id: "limits.rate-other-account",
  scenario: rateScenario,
  basis: "timing",
  title: "Another account is not denied because of this account's rate",
  covers: ["LIMIT-1", "LIMIT-RATE-3"],
  explains:
    "While one account is denied by its rate limit, requests with keys of unrelated accounts are sent. They must be served: limits belong to accounts.",
  judge({ others, whileDenied }, verdict) {
    verdict.assume(whileDenied.length > 0, "the account could be brought to its limit");
    if (others.length === 0) return verdict.notApplicable("the target has no key of another account");
    for (const { account, responses } of others) {
      const denied = responses.filter(isRateDenial);
      const all = that("not all of them", (count) => (count as number) < responses.length);
      verdict.must("LIMIT-1", denied.length, all, {
        in: denied[0],
        because: `requests (of ${responses.length}) of another account (${account}) that were denied`,
      });
      verdict.must("LIMIT-RATE-3", denied.length, all, { in: denied[0] });
    }
  },
});

export const RATE_SHARING: readonly Check[] = [sharedByKeys, sharedByKinds, otherAccounts];
