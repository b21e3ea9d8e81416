import { type Check, defineCheck, type Response } from "../../src/checks/index.ts";
import { atMost } from "../../src/judging/index.ts";
import { servedAtLimit, wasAtLimit } from "./concurrency/in-flight.ts";
import { concurrencyScenario } from "./concurrency/scenario.ts";
import { isConcurrencyDenial, isServed } from "./denials.ts";
import { rateScenario } from "./rate/scenario.ts";
import { judgeKind } from "./rate/sharing.ts";

const NOT_TRIED = "a quick run, or a rate limit that leaves no room for these requests";
const NOT_TAKEN = "the gateway accepts the key only in the form that the specification shows";

/** Neither served nor denied like a request with the key in its usual spelling: the spelling is rejected. */
function isRejected(response: Response, usualDenial: Response | undefined): boolean {
  return !isServed(response) && response.summary !== usualDenial?.summary;
}

const rateBySpelling = defineCheck({
  id: "limits.rate-shared-by-spellings",
  scenario: rateScenario,
  basis: "timing",
  title: "A key in another spelling shares the account's rate limit",
  covers: ["LIMIT-1", "LIMIT-RATE-1"],
  explains:
    "While the account is denied by its rate limit, the same key is sent as `bearer`, with two spaces after the scheme, and with an x-api-key header next to the bearer key or instead of it. A gateway may reject these with 401. If it accepts them, they must be denied by the rate limit like any other request. A failure means that requests are counted by the text of a header instead of by account: a client that varies the header bypasses the limit.",
  judge(recording, verdict) {
    verdict.assume(recording.whileDenied.length > 0, "the account could be brought to its limit");
    if (recording.spelled.length === 0) return verdict.notApplicable(NOT_TRIED);
    const spelled = recording.spelled.filter(({ before, tries }) => !tries.every((one) => isRejected(one, before)));
    for (const { kind } of spelled) {
      judgeKind(
        { ...recording, whileDenied: spelled, laterDenied: [] },
        kind,
        (admitted, allowed, first, why) => {
          verdict.must("LIMIT-1", admitted, atMost(allowed), { in: first, because: why });
          verdict.must("LIMIT-RATE-1", admitted, atMost(allowed), { in: first, because: why });
        },
        verdict,
      );
    }
    if (spelled.length === 0) verdict.notApplicable(NOT_TAKEN);
  },
});

const concurrencyBySpelling = defineCheck({
  id: "limits.concurrency-shared-by-spellings",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "A key in another spelling shares the account's concurrency limit",
  covers: ["LIMIT-1", "LIMIT-CONC-2"],
  explains:
    "While streams fill the concurrency limit, the same key is sent as `bearer`, with two spaces after the scheme, and with an x-api-key header next to the bearer key or instead of it. A gateway may reject these with 401. If it accepts them, they must be denied by the concurrency limit. A failure means that requests in flight are counted by the text of a header instead of by account.",
  judge({ held, spelled }, verdict) {
    if (spelled.length === 0) return verdict.notApplicable(NOT_TRIED);
    verdict.assume(held.every(isServed), "streams up to the concurrency limit were admitted");
    for (const { kind, responses } of spelled) {
      if (!responses.some((response) => isServed(response) || isConcurrencyDenial(response))) continue;
      if (!responses.some((response) => wasAtLimit(response, held))) {
        verdict.markUndecided(
          "inconclusive",
          `the streams ended before a request with ${kind} could be sent at the limit`,
        );
        continue;
      }
      const served = servedAtLimit(responses, held);
      const seen = { in: served ?? responses[0], because: `served at the concurrency limit with ${kind}` };
      verdict.must("LIMIT-1", served !== undefined, false, seen);
      verdict.must("LIMIT-CONC-2", served !== undefined, false, seen);
    }
    if (verdict.findings.length === 0 && verdict.open === undefined) verdict.notApplicable(NOT_TAKEN);
  },
});

export const SPELLINGS: readonly Check[] = [rateBySpelling, concurrencyBySpelling];
