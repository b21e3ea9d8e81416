import type { JsonObject } from "../../core/index.ts";
import type { Activity } from "../history.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { Price } from "../providers/model-table.ts";
import type { Usage } from "../relay/usage.ts";
import type { When } from "./when.ts";
import { type Apply, wrap } from "./wrap.ts";

/** The request goes to a real provider. */
export const relayed: When = ({ plan }) => plan?.kind === "relay";

/** The tokens that a request to a real provider is charged for and recorded with. */
export function countsAs(when: When, edit: (usage: Usage, call: Call) => Partial<Usage>): Apply {
  return wrap("usage", (next) => (call, closing) => {
    const usage = next(call, closing);
    return relayed(call) && when(call) ? { ...usage, ...edit(usage, call) } : usage;
  });
}

/** The tokens for which a request to a real provider is charged; others are recorded. */
export function chargesFor(when: When, edit: (usage: Usage) => Partial<Usage>): Apply {
  return wrap(
    "cost",
    (next) => (model, usage, call) =>
      next(model, relayed(call) && when(call) ? { ...usage, ...edit(usage) } : usage, call),
  );
}

/** The prices of requests to real providers. */
export function pricedAt(edit: (price: Price) => Partial<Price>): Apply {
  return wrap(
    "cost",
    (next) => (model, usage, call) =>
      next(relayed(call) ? { ...model, price: { ...model.price, ...edit(model.price) } } : model, usage, call),
  );
}

/** The cost of requests to real providers. */
export function costsAs(when: When, edit: (microUsd: number) => number): Apply {
  return wrap("cost", (next) => (model, usage, call) => {
    const microUsd = next(model, usage, call);
    return relayed(call) && when(call) ? edit(microUsd) : microUsd;
  });
}

/** The rows of requests to real providers. */
export function recordsAs(edit: (row: Activity, call: Call) => readonly Activity[]): Apply {
  return wrap(
    "records",
    (next) => (row, call) => next(row, call).flatMap((one) => (relayed(call) ? edit(one, call) : [one])),
  );
}

/** The rows of a ledger. */
export function onLedgerRows(edit: (rows: readonly Activity[]) => readonly Activity[]): Apply {
  return wrap("ledgerRows", (next) => (own, all) => edit(next(own, all)));
}

/** How the ledger shows a row. */
export function entriesAs(edit: (entry: JsonObject, row: Activity) => JsonObject): Apply {
  return wrap("ledgerEntry", (next) => (row, key) => edit(next(row, key), row));
}
