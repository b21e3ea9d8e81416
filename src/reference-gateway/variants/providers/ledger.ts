import { type Variant, variant } from "../../change.ts";
import { entriesAs, onLedgerRows, recordsAs } from "../../edits/ledger-edits.ts";
import { all, wrap } from "../../edits/wrap.ts";
import type { Activity } from "../../history.ts";
import { describeLedger } from "../../ledger/description.ts";
import { usageFields } from "../../ledger/ledger.ts";
import { costOf, relayedModel } from "../../providers/model-table.ts";

const { fields, totals } = describeLedger([]);
const MINUTE_MS = 60_000;

/** Requests in merged rows. */
const merged = new WeakMap<Activity, number>();

/** One row per minute and model. */
function perMinute(rows: readonly Activity[]): readonly Activity[] {
  const groups = new Map<string, Activity[]>();
  for (const row of rows) {
    const name = `${Math.floor(row.atMs / MINUTE_MS)} ${row.model}`;
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups.values()].map((group) => {
    const [first] = group as [Activity, ...Activity[]];
    const sum = (name: "chargeMicroUsd" | keyof ReturnType<typeof usageFields>) =>
      group.reduce((total, row) => total + Number(row[name as keyof Activity]), 0);
    const row: Activity = {
      ...first,
      atMs: Math.floor(first.atMs / MINUTE_MS) * MINUTE_MS,
      ...Object.fromEntries(Object.keys(usageFields(first)).map((name) => [name, sum(name)])),
      chargeMicroUsd: sum("chargeMicroUsd"),
    };
    merged.set(row, group.length);
    return row;
  });
}

const inFull = (row: Activity): Activity => ({ ...row, chargeMicroUsd: costOf(relayedModel(row.model ?? ""), row) });

/** Ledgers that look different and are correct. */
export const LEDGER_VARIANTS: readonly Variant[] = [
  variant(
    "ledger.seconds-late",
    "Requests appear in the ledger after three seconds.",
    wrap("ledgerLagMs", () => () => 3_000),
  ),
  variant(
    "ledger.newest-first",
    "The ledger lists the newest request first.",
    onLedgerRows((rows) => [...rows].reverse()),
  ),
  variant("ledger.small-pages", "The ledger has five rows per page.", (behaviour) => ({
    ...behaviour,
    ledgerPageRows: 5,
  })),
  variant(
    "ledger.failures-without-cost",
    "The ledger also lists requests that failed, without cost.",
    wrap("ledgerRows", () => (own) => own.filter(({ endpoint }) => endpoint !== "models")),
  ),
  variant(
    "ledger.interrupted-in-full",
    "Interrupted streams are charged in full.",
    recordsAs((row) => [row.outcome === "interrupted" || row.outcome === "broken" ? inFull(row) : row]),
  ),
  {
    ...variant(
      "ledger.cost-as-text",
      "The ledger states costs in billionths of a dollar, as text.",
      entriesAs((entry, { chargeMicroUsd }) => ({ ...entry, costMicroUsd: String(chargeMicroUsd * 1_000) })),
    ),
    ledger: { costUnit: "nanoUsd", totals: { requests: totals["requests"] ?? "" } },
  },
  {
    ...variant(
      "ledger.other-names",
      "The ledger has other field names, times in seconds and costs in dollars.",
      entriesAs((entry, row) => ({
        id: row.requestId,
        created: row.atMs / 1_000,
        hash: entry["key"] ?? null,
        usage: {
          prompt_tokens: row.inputTokens,
          completion_tokens: row.outputTokens,
          details: {
            cached: row.cachedTokens,
            written: { short: row.cacheWrite5mTokens, long: row.cacheWrite1hTokens },
            reasoning: row.reasoningTokens,
          },
        },
        spend: row.chargeMicroUsd / 1e6,
      })),
    ),
    ledger: {
      costUnit: "usd",
      totals: {},
      fields: {
        time: "/created",
        input: "/usage/prompt_tokens",
        output: "/usage/completion_tokens",
        cost: "/spend",
        requestId: "/id",
        key: "/hash",
        cachedInput: "/usage/details/cached",
        cacheWrite5m: "/usage/details/written/short",
        cacheWrite1h: "/usage/details/written/long",
        reasoning: "/usage/details/reasoning",
      },
    },
  },
  {
    ...variant(
      "ledger.without-ids",
      "The rows of the ledger have no ids that callers see.",
      entriesAs(({ requestId: _requestId, ...entry }) => entry),
    ),
    ledger: { fields: Object.fromEntries(Object.entries(fields).filter(([name]) => name !== "requestId")) },
  },
  {
    ...variant(
      "ledger.input-without-cache",
      "The ledger counts cached input and cache writes separately from other input.",
      entriesAs((entry, { inputTokens, cachedTokens, cacheWrite5mTokens, cacheWrite1hTokens }) => ({
        ...entry,
        inputTokens: inputTokens - cachedTokens - cacheWrite5mTokens - cacheWrite1hTokens,
      })),
    ),
    ledger: { inputExcludesCache: true, totals: { cost: totals["cost"] ?? "" } },
  },
  {
    ...variant(
      "ledger.merged-per-minute",
      "The ledger has one row per minute and model.",
      all(
        onLedgerRows(perMinute),
        entriesAs(({ requestId: _requestId, ...entry }, row) => ({ ...entry, requests: merged.get(row) ?? 1 })),
      ),
    ),
    ledger: {
      totals: {},
      fields: {
        ...Object.fromEntries(Object.entries(fields).filter(([name]) => name !== "requestId")),
        requests: "/requests",
      },
    },
  },
];
