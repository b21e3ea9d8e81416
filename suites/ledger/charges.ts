import { type Check, defineCheck } from "../../src/checks/index.ts";
import { atLeast, atMost, isTrue, that } from "../../src/judging/index.ts";
import type { LedgerRow } from "../../src/target/index.ts";
import { priceOf } from "./price-of.ts";
import {
  assumeRows,
  chargedIn,
  costIn,
  isByIds,
  type LedgerRecording,
  ledgerScenario,
  requestsIn,
  rowsOf,
  type Sent,
  unplacedIn,
} from "./scenario.ts";
import { SETTLE_TIMEOUT_MS } from "./settle.ts";

/** Deviations of costs that only come from adding binary fractions, micro-dollars. */
const EPSILON = 1e-6;

const charged = defineCheck({
  id: "ledger.charged",
  title: "Every served request has a ledger row with a positive cost",
  covers: ["SPEND-1"],
  explains:
    "Sends requests of every kind through the gateway to the providers of `gauntlet upstream`, in both dialects and modes, and reads the ledger until it has settled (up to 90 s). Each request that was served must have a row with a positive cost, unless its declared price is 0. A missing row means that the request was never charged, or that the account page hides the charge; if rows still appear at the end of that time, the check is inconclusive. If no row at all belongs to these requests, the check is blocked: the description of the ledger may be wrong.",
  scenario: ledgerScenario,
  judge(recording, verdict) {
    assumeRows(recording, verdict);
    const { terms, reading } = recording;
    const served = chargedIn(recording);
    if (terms.merges) {
      if (!terms.isOwnKey) return verdict.inconclusive(MERGED);
      const paid = served.filter((one) => !isFree(recording, one.one)).length;
      const recorded = requestsIn(reading.rows);
      const charged = requestsIn(reading.rows.filter(({ costMicroUsd }) => (costMicroUsd ?? 0) > 0));
      if (reading.isUnfinished && (recorded < served.length || charged < paid)) return verdict.inconclusive(UNFINISHED);
      verdict.must("SPEND-1", recorded, atLeast(served.length), { because: "requests recorded in the ledger" });
      verdict.must("SPEND-1", charged, atLeast(paid), { because: "requests in rows with a cost" });
      return;
    }
    const { rows } = rowsOf(recording);
    for (const { one, index } of served) {
      const own = rows[index] ?? [];
      const seen = { in: one.response, because: `rows for: ${one.what}` };
      if (own.length === 0 && reading.isUnfinished) {
        verdict.markUndecided("inconclusive", UNFINISHED);
        continue;
      }
      if (!verdict.must("SPEND-1", own.length > 0, isTrue("a row in the ledger", describeRows(own)), seen)) continue;
      if (isFree(recording, one)) continue;
      if (own.every(({ costMicroUsd }) => costMicroUsd === null) && !isPriced(recording, one)) {
        verdict.note("SPEND-1", "the row states no cost, and the target file no price", { in: one.response });
        continue;
      }
      verdict.must("SPEND-1", costIn(own), aCharge, { in: one.response, because: `cost, micro-dollars: ${one.what}` });
    }
  },
});

const MERGED = "merged rows may contain other requests; set ledger.key to a key that nothing else uses";
const UNFINISHED = `rows were still appearing in the ledger ${SETTLE_TIMEOUT_MS / 1_000} s after the last request`;

const aCharge = that<number>("more than 0", (value) => value > 0);

const isPriced = ({ terms }: LedgerRecording, { model }: Sent): boolean =>
  model !== null && terms.prices[model] !== undefined;

/** Its declared price is 0. */
function isFree({ terms }: LedgerRecording, { model, tokens }: Sent): boolean {
  const price = model === null ? undefined : terms.prices[model];
  return price !== undefined && priceOf(price, tokens) === 0;
}

/** Net number of charges in these rows: a reversal cancels one. */
function chargesIn(rows: readonly LedgerRow[]): number {
  const count = (test: (cost: number) => boolean) =>
    rows.filter(({ costMicroUsd }) => costMicroUsd !== null && test(costMicroUsd)).length;
  return count((cost) => cost > EPSILON) - count((cost) => cost < -EPSILON);
}

function describeRows(rows: readonly LedgerRow[]): string {
  if (rows.length === 0) return "none";
  return rows
    .slice(0, 5)
    .map(({ input, output, costMicroUsd }) => `${input} in, ${output} out, ${costMicroUsd ?? "no cost"}`)
    .join("; ");
}

const once = defineCheck({
  id: "ledger.once",
  title: "A request is charged once, and nothing else is charged",
  covers: ["LEDGER-ONCE"],
  explains:
    "The same requests; for some of them, the first attempt at a provider fails and another one serves. Each request may have one charge, however many attempts it took. A row with a cost that matches no request is an unjustified charge; such rows are judged only if nothing else uses the key (`ledger.key` in the target file). A row that names another key is unjustified, too, if it belongs to one of these requests or if the URL of the ledger selects one key (`{key}`). Rows without a cost may be added.",
  scenario: ledgerScenario,
  judge(recording, verdict) {
    assumeRows(recording, verdict);
    const { terms, reading, sent } = recording;
    if (terms.merges) {
      if (!terms.isOwnKey) return verdict.inconclusive(MERGED);
      verdict.must("LEDGER-ONCE", requestsIn(reading.rows), atMost(sent.length), {
        because: `requests in the ledger, of ${sent.length} that were sent`,
      });
      return;
    }
    const matched = rowsOf(recording);
    const { rows, others, chargedToOthers } = matched;
    for (const [index, one] of sent.entries()) {
      const own = rows[index] ?? [];
      if (own.length === 0) continue;
      verdict.must("LEDGER-ONCE", chargesIn(own), atMost(1), {
        in: one.response,
        because: `charges for: ${one.what} (${one.received} provider requests, ${one.completed} completed)`,
      });
    }
    if (terms.namesKeys) {
      const strange = terms.isOfOneKey ? others.filter(({ isOwnKey }) => isOwnKey === false) : chargedToOthers;
      verdict.must("LEDGER-ONCE", strange.length, 0, {
        because: `rows that name another key: ${describeRows(strange)}`,
      });
    }
    const unmatched = others.filter(({ costMicroUsd, isOwnKey }) => (costMicroUsd ?? 0) !== 0 && isOwnKey !== false);
    if (terms.isOwnKey) {
      const judged = unmatched.slice(unplacedIn(recording, matched));
      verdict.must("LEDGER-ONCE", judged.length, 0, {
        because: `rows that match no request sent with this key: ${describeRows(judged)}`,
      });
    } else if (unmatched.length > 0)
      verdict.note(
        "LEDGER-ONCE",
        `${unmatched.length} rows belong to no request of this check; not judged, because other requests use the key (ledger.key)`,
      );
  },
});

const failuresFree = defineCheck({
  id: "ledger.failures",
  title: "Requests that fail cost nothing",
  covers: ["SPEND-10"],
  explains:
    "All providers fail or interrupt their reply, so the caller gets an error. The ledger must show no cost for such a request; it may have a row without cost, or none. If the ledger has no ids that callers see, every row that matches no other request counts as a failed request's; this requires that nothing else uses the key (`ledger.key`).",
  scenario: ledgerScenario,
  judge(recording, verdict) {
    assumeRows(recording, verdict);
    const { sent, terms, reading } = recording;
    const failed = sent
      .map((one, index) => ({ one, index }))
      .filter(
        ({ one: { outcome, response, received } }) =>
          (outcome === "failed" || outcome === "retried") &&
          received > 0 &&
          !response.admitted &&
          response.status !== undefined,
      );
    verdict.assume(failed.length > 0, "at least one request failed because its provider failed");
    if (terms.merges) {
      // A failure that was charged is another request with a cost.
      const served = sent.filter(({ response }) => response.admitted).length;
      if (!terms.isOwnKey) return verdict.inconclusive(MERGED);
      verdict.must(
        "SPEND-10",
        requestsIn(reading.rows.filter(({ costMicroUsd }) => costMicroUsd !== 0)),
        atMost(served),
        {
          because: `charged requests, of ${served} that were served and ${failed.length} that failed`,
        },
      );
      return;
    }
    const matched = rowsOf(recording);
    const { rows, others } = matched;
    for (const { one, index } of failed) {
      const cost = costIn(rows[index] ?? []);
      verdict.must("SPEND-10", Math.abs(cost) < EPSILON ? 0 : cost, 0, {
        in: one.response,
        because: `cost, micro-dollars: ${one.what}`,
      });
    }
    if (
      isByIds(
        recording,
        failed.map(({ one }) => one),
      )
    )
      return;
    if (!terms.isOwnKey)
      return verdict.inconclusive("failed requests cannot be distinguished from others in the ledger; set ledger.key");
    const charged = others.filter(({ costMicroUsd, isOwnKey }) => (costMicroUsd ?? 0) > 0 && isOwnKey !== false);
    if (charged.length > 0 && unplacedIn(recording, matched) > 0)
      return verdict.inconclusive(
        `rows with a cost may belong to requests that failed or to interrupted ones: ${describeRows(charged)}`,
      );
    verdict.must("SPEND-10", costIn(charged), 0, {
      because: `cost of rows that match no served request, micro-dollars: ${describeRows(charged)}`,
    });
  },
});

const interrupted = defineCheck({
  id: "ledger.interrupted",
  title: "What interrupted streams cost",
  covers: ["SPEND-11"],
  explains:
    "The caller disconnects from a stream, and a provider interrupts a stream. The specification says only that the final record decides what is charged, so the report shows the recorded tokens and cost, and nothing is judged.",
  scenario: ledgerScenario,
  judge(recording, verdict) {
    assumeRows(recording, verdict);
    const { rows } = rowsOf(recording);
    const uncertain = recording.sent
      .map((one, index) => ({ one, index }))
      .filter(({ one }) => one.outcome === "uncertain");
    if (uncertain.length === 0)
      return verdict.notApplicable(
        "ledger rows cannot be matched to responses by id: set fields.requestId and responseId in ledger",
      );
    for (const { one, index } of uncertain) {
      const own = rows[index] ?? [];
      const what = own.length === 0 ? "no row" : `${describeRows(own)} micro-dollars`;
      verdict.note("SPEND-11", `${one.what}, of ${one.tokens.input} in, ${one.tokens.output} out: ${what}`, {
        in: one.response,
      });
    }
  },
});

export const CHARGES: readonly Check[] = [charged, once, failuresFree, interrupted];
