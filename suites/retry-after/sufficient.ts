import { type Check, defineCheck } from "../../src/checks/index.ts";
import { isRateDenial } from "../limits/denials.ts";
import { rateScenario } from "../limits/rate/scenario.ts";

export const sufficient = defineCheck({
  id: "retry-after.sufficient",
  scenario: rateScenario,
  basis: "timing",
  title: "The Retry-After wait of a rate denial is sufficient",
  covers: ["LIMIT-RATE-6"],
  explains:
    "After a rate denial, sends nothing on the account for as long as Retry-After says, then one request, which should be admitted. Repeats this after a denial of the other key and dialect. A warning means that the wait is too short, or that each further request extends it.",
  judge({ firstWait, secondWait, shortestWait }, verdict) {
    if (shortestWait !== null)
      verdict.should("LIMIT-RATE-6", isRateDenial(shortestWait.retried), false, {
        in: shortestWait.retried,
        because: `after the stated wait of ${shortestWait.waitMs} ms, the shortest of all denials: ${shortestWait.retried.summary}`,
      });
    if (firstWait === null) return verdict.inconclusive("no request was denied by the rate limit");
    if (firstWait.waitMs === null)
      return verdict.inconclusive(
        firstWait.denial.header("retry-after") === undefined
          ? "no Retry-After header on the 429, so the wait could not be tested"
          : `Retry-After: ${firstWait.denial.header("retry-after")} on the 429 is not a usable wait, so it could not be tested`,
      );
    for (const tested of [firstWait, secondWait]) {
      if (tested === null || tested.waitMs === null) continue;
      const why = `after the stated wait of ${tested.waitMs} ms: ${tested.retried.summary}`;
      verdict.should("LIMIT-RATE-6", isRateDenial(tested.retried), false, { in: tested.retried, because: why });
    }
  },
});

export const RETRY_AFTER_SUFFICIENT: readonly Check[] = [sufficient];
