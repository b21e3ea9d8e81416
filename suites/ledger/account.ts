import { type Check, defineCheck } from "../../src/checks/index.ts";
import { quantile } from "../../src/core/index.ts";
import { atMost, that } from "../../src/judging/index.ts";
import { chargedIn, ledgerScenario } from "./scenario.ts";
import { SETTLE_TIMEOUT_MS } from "./settle.ts";

/** Deviation of a sum that comes from rounding, micro-dollars per row. */
const ROUNDING = 0.5;

const totals = defineCheck({
  id: "ledger.totals",
  title: "The totals of the ledger are the sums of its rows",
  covers: ["LEDGER-TOTALS"],
  explains:
    "Compares the totals that `ledger.totals` of the target file names with the sums of the rows of all pages. Costs may differ by half a micro-dollar per row, because displayed costs are rounded. A warning means that the account page and its rows disagree.",
  scenario: ledgerScenario,
  judge({ reading: { totals: stated, listed } }, verdict) {
    if (stated === null || Object.keys(stated).length === 0)
      return verdict.notApplicable("the target file does not declare ledger.totals");
    verdict.assume(listed.rows > 0, "the ledger has rows");
    const { requests, input, output, cost } = stated;
    if (requests !== undefined) verdict.should("LEDGER-TOTALS", requests, listed.requests, { because: "requests" });
    if (input !== undefined) verdict.should("LEDGER-TOTALS", input, listed.input, { because: "input tokens" });
    if (output !== undefined) verdict.should("LEDGER-TOTALS", output, listed.output, { because: "output tokens" });
    if (cost === undefined) return;
    const bound = ROUNDING * listed.rows;
    verdict.should(
      "LEDGER-TOTALS",
      cost,
      that<number>(`${listed.costMicroUsd} (±${bound})`, (total) => Math.abs(total - listed.costMicroUsd) <= bound),
      { because: "cost, micro-dollars" },
    );
  },
});

const lag = defineCheck({
  id: "ledger.lag",
  title: "The ledger shows a request within about a minute",
  covers: ["LEDGER-LAG"],
  explains: `Measures, for each request that was served, the time until its row can be read; the ledger is read every half second, so the true time is a little shorter. The time starts when the response ends, or at the first reading of the ledger (after the last request), whichever is later. The report shows the distribution. A row that is missing after ${SETTLE_TIMEOUT_MS / 1_000} s is a warning: current costs cannot be checked.`,
  scenario: ledgerScenario,
  judge(recording, verdict) {
    if (recording.terms.merges)
      return verdict.notApplicable(
        "this ledger merges requests into one row, so individual requests cannot be checked",
      );
    const served = chargedIn(recording);
    verdict.assume(served.length > 0, "at least one request was served");
    const lags = served.flatMap(({ one }) => (one.lagMs === null ? [] : [one.lagMs])).sort((a, b) => a - b);
    const [missing] = served.filter(({ one }) => one.lagMs === null);
    verdict.should("LEDGER-LAG", served.length - lags.length, 0, {
      in: missing?.one.response,
      because: `requests (of ${served.length}) without a row after ${SETTLE_TIMEOUT_MS / 1_000} s`,
    });
    if (lags.length === 0) return;
    const at = (share: number) => Math.round(quantile(lags, share));
    verdict.should("LEDGER-LAG", lags.at(-1) ?? 0, atMost(SETTLE_TIMEOUT_MS), {
      because: "longest time until a row, ms",
    });
    verdict.note(
      "LEDGER-LAG",
      `time until the row (upper bound): p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, max ${lags.at(-1)} ms (${lags.length} requests)`,
    );
  },
});

export const ACCOUNT: readonly Check[] = [totals, lag];
