import type { LedgerRow } from "../../src/target/index.ts";

/** What identifies the row of a request: its id, if the caller sees one, and its number of input tokens, which is unique. */
export interface Identity {
  readonly id: string | null;
  readonly input: number;
}

export interface Matched {
  /** Rows by the position of their request. */
  readonly rows: readonly (readonly LedgerRow[])[];
  /** Rows of no request. */
  readonly others: readonly LedgerRow[];
}

/** Assigns the rows of a ledger to requests: by the id, or by the input if it has no id that callers see. */
export function matchRows(requests: readonly Identity[], rows: readonly LedgerRow[]): Matched {
  const byId = new Map(requests.flatMap(({ id }, index) => (id === null ? [] : [[id, index] as const])));
  const byInput = new Map(requests.map(({ input }, index) => [input, index] as const));
  const matched: LedgerRow[][] = requests.map(() => []);
  const others: LedgerRow[] = [];
  for (const row of rows) {
    const index = (row.requestId === null ? undefined : byId.get(row.requestId)) ?? byInput.get(row.input);
    const own = index === undefined || row.isOwnKey === false ? undefined : matched[index];
    (own ?? others).push(row);
  }
  return { rows: matched, others };
}
