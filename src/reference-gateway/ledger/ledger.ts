import type { JsonObject } from "../../core/index.ts";
import type { Activity } from "../history.ts";

/** The default of `ledgerRows`: requests that were served, at least in part, and everything that costs something. */
export function isCharged({ outcome, endpoint, chargeMicroUsd }: Activity): boolean {
  if (chargeMicroUsd !== 0) return true;
  return endpoint !== "models" && (outcome === "complete" || outcome === "interrupted" || outcome === "broken");
}

/** The default of `ledgerEntry`. @param key SHA-256 of the key's text, hexadecimal. */
export function ledgerEntry(row: Activity, key: string): JsonObject {
  return {
    requestId: row.requestId,
    at: new Date(row.atMs).toISOString(),
    key,
    model: row.model ?? null,
    status: row.status,
    outcome: row.outcome,
    ...usageFields(row),
    costMicroUsd: row.chargeMicroUsd,
  };
}

/** The tokens of a row by kind. */
export function usageFields(row: Activity): JsonObject {
  const { inputTokens, cachedTokens, cacheWrite5mTokens, cacheWrite1hTokens, outputTokens, reasoningTokens } = row;
  return { inputTokens, cachedTokens, cacheWrite5mTokens, cacheWrite1hTokens, outputTokens, reasoningTokens };
}

/** The default of `ledgerTotals`. */
export function ledgerTotals(rows: readonly Activity[]): JsonObject {
  const sum = (of: (row: Activity) => number) => rows.reduce((total, row) => total + of(row), 0);
  return {
    requests: rows.length,
    inputTokens: sum((row) => row.inputTokens),
    outputTokens: sum((row) => row.outputTokens),
    costMicroUsd: sum((row) => row.chargeMicroUsd),
  };
}
