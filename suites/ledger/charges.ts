import { type Check, defineCheck } from "../../src/checks/index.ts";
import { atMost, isTrue, that } from "../../src/judging/index.ts";
import type { LedgerRow } from "../../src/target/index.ts";
import {
  assumeRows,
  chargedIn,
  costIn,
  type LedgerRecording,
  ledgerScenario,
  requestsIn,
  rowsOf,
  type Sent,
} from "./scenario.ts";

/** Deviations of costs that only come from adding binary fractions, micro-dollars. */
const EPSILON = 1e-6;

const charged = defineCheck({
  id: "ledger.charged",
  title: "Every served request has a ledger row with a positive cost",
  covers: ["SPEND-1"],
  explains:
    "Sends requests of every kind through the gateway to the providers of `gauntlet upstream`, in both dialects and modes, and reads the ledger until it has settled (up to 90 s). Each request that was served must have a row with a positive cost. A missing row means that the request was never charged, or that the account page hides the charge. If no row at all belongs to these requests, the check is blocked: the description of the ledger may be wrong.",
  scenario: ledgerScenario,
  judge(recording, verdict) {
    assumeRows(recording, verdict);
    const { terms, reading } = recording;
    const served = chargedIn(recording);
    if (terms.merges) {
      verdict.must("SPEND-1", requestsIn(reading.rows) >= served.length, isTrue(`at least ${served.length} requests`), {
        because: "requests recorded in the ledger",
      });
      for (const row of reading.rows)
        verdict.must("SPEND-1", row.costMicroUsd ?? 0, aCharge, { because: "cost of a row, micro-dollars" });
      return;
    }
    const { rows } = rowsOf(recording);
    for (const { one, index } of served) {
      const own = rows[index] ?? [];
      const seen = { in: one.response, because: `rows for: ${one.what}` };
      if (!verdict.must("SPEND-1", own.length > 0, isTrue("a row in the ledger", describeRows(own)), seen)) continue;
      if (own.every(({ costMicroUsd }) => costMicroUsd === null) && !isPriced(recording, one)) {
        verdict.note("SPEND-1", "the row states no cost, and the target file no price", { in: one.response });
        continue;
      }
      verdict.must("SPEND-1", costIn(own), aCharge, { in: one.response, because: `cost, micro-dollars: ${one.what}` });
    }
  },
});

const aCharge = that<number>("more than 0", (value) => value > 0);

const isPriced = ({ terms }: LedgerRecording, { model }: Sent): boolean =>
  model !== null && terms.prices[model] !== undefined;

/** Whether the ids of the ledger are those that callers see. */
function isByIds({ reading, sent }: LedgerRecording): boolean {
  return reading.rows.some(({ requestId }) => sent.some(({ id }) => id !== null && id === requestId));
}

/** How many charges rows are: a reversal takes one back. */
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
    "The same requests; for some of them, the first attempt at a provider fails and another one serves. Each request may have one charge, however many attempts it took. A row with a cost that matches no request, or belongs to another key, is an unjustified charge. Such rows are judged only if nothing else uses the key: `ledger.key` in the target file. Rows without a cost may be added.",
  scenario: ledgerScenario,
  judge(recording, verdict) {
    assumeRows(recording, verdict);
    const { terms, reading, sent } = recording;
    if (terms.merges) {
      if (!terms.isOwnKey)
        return verdict.inconclusive(
          "merged rows may contain other requests; set ledger.key to a key that nothing else uses",
        );
      verdict.must("LEDGER-ONCE", requestsIn(reading.rows), atMost(sent.length), {
        because: `requests in the ledger, of ${sent.length} that were sent`,
      });
      return;
    }
    const { rows, others } = rowsOf(recording);
    for (const [index, one] of sent.entries()) {
      const own = rows[index] ?? [];
      if (own.length === 0) continue;
      verdict.must("LEDGER-ONCE", chargesIn(own), atMost(1), {
        in: one.response,
        because: `charges for: ${one.what} (${one.received} provider requests, ${one.completed} completed)`,
      });
    }
    const foreign = others.filter(({ costMicroUsd, isOwnKey }) => (costMicroUsd ?? 0) !== 0 || isOwnKey === false);
    const ownOnly = terms.isOwnKey ? foreign : foreign.filter(({ isOwnKey }) => isOwnKey === false);
    // Interrupted requests may have rows that only an id identifies.
    const judged = ownOnly.slice(isByIds(recording) ? 0 : sent.filter(({ fate }) => fate === "uncertain").length);
    verdict.must("LEDGER-ONCE", judged.length, 0, {
      because: `rows that match no request sent with this key: ${describeRows(judged)}`,
    });
    if (foreign.length > ownOnly.length)
      verdict.note(
        "LEDGER-ONCE",
        `${foreign.length - ownOnly.length} rows belong to no request of this check; not judged, because other requests use the key (ledger.key)`,
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
        ({ one: { fate, response } }) => fate !== "uncertain" && !response.admitted && response.status !== undefined,
      );
    verdict.assume(failed.length > 0, "at least one request failed because its provider failed");
    if (terms.merges) {
      // A failure that was charged is another request with a cost.
      const served = chargedIn(recording).length;
      if (!terms.isOwnKey) return verdict.inconclusive("merged rows may contain other requests; set ledger.key");
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
    const { rows, others } = rowsOf(recording);
    const hasIds = isByIds(recording) && failed.every(({ one }) => one.id !== null);
    for (const { one, index } of failed) {
      const cost = costIn(rows[index] ?? []);
      verdict.must("SPEND-10", Math.abs(cost) < EPSILON ? 0 : cost, 0, {
        in: one.response,
        because: `cost, micro-dollars: ${one.what}`,
      });
    }
    if (hasIds) return;
    if (!terms.isOwnKey)
      return verdict.inconclusive("failed requests cannot be distinguished from others in the ledger; set ledger.key");
    verdict.must("SPEND-10", costIn(others.filter(({ costMicroUsd }) => (costMicroUsd ?? 0) > 0)), 0, {
      because: `cost of rows that match no served request, micro-dollars: ${describeRows(others)}`,
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
      .filter(({ one }) => one.fate === "uncertain");
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
