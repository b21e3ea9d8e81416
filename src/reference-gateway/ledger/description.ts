import { type Model, relayedAlias, relayedModel } from "../providers/model-table.ts";

/** How a target file describes the ledger; `path` follows the address of the admin interface. */
export interface LedgerDescription {
  readonly path: string;
  readonly rows: string;
  readonly next: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly responseId?: string;
  readonly costUnit: "usd" | "microUsd" | "nanoUsd";
  readonly inputExcludesCache?: boolean;
  readonly totals: Readonly<Record<string, string>>;
  readonly prices: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** The ledger of a gateway in front of these models of a real provider. */
export function describeLedger(models: readonly string[], change: Partial<LedgerDescription> = {}): LedgerDescription {
  const priced = models.flatMap((id) => [relayedModel(id), relayedAlias(id)]);
  return {
    path: "/ledger?key={key}&from={from}&to={to}&after={next}",
    rows: "/rows",
    next: "/next",
    fields: {
      time: "/at",
      input: "/inputTokens",
      output: "/outputTokens",
      cost: "/costMicroUsd",
      requestId: "/requestId",
      key: "/key",
      model: "/model",
      status: "/status",
      cachedInput: "/cachedTokens",
      cacheWrite5m: "/cacheWrite5mTokens",
      cacheWrite1h: "/cacheWrite1hTokens",
      reasoning: "/reasoningTokens",
    },
    responseId: "header:x-request-id",
    costUnit: "microUsd",
    totals: {
      requests: "/totals/requests",
      input: "/totals/inputTokens",
      output: "/totals/outputTokens",
      cost: "/totals/costMicroUsd",
    },
    prices: Object.fromEntries(priced.map((model) => [model.id, priceOf(model)])),
    ...change,
  };
}

/** Micro-dollars per token are dollars per million. */
function priceOf({ price }: Model): Record<string, number> {
  const { perInputToken, perCachedToken, perCacheWrite5mToken, perCacheWrite1hToken, perOutputToken } = price;
  return {
    inputPerMTok: perInputToken,
    cachedInputPerMTok: perCachedToken ?? perInputToken,
    cacheWrite5mPerMTok: perCacheWrite5mToken ?? perInputToken,
    cacheWrite1hPerMTok: perCacheWrite1hToken ?? perInputToken,
    outputPerMTok: perOutputToken,
    perRequest: price.perRequest / 1e6,
  };
}
