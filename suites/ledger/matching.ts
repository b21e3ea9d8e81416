import type { LedgerRow } from "../../src/target/index.ts";

/** What identifies the row of a request: its id, if the caller sees one, and its number of input tokens, which is unique. */
export interface Identity {
  readonly id: string | null;
  readonly input: number;
}

export interface Matched {
  /** Rows by the position of their request. */
  readonly rows: readonly (readonly LedgerRow[])[];
  /** Rows of no request, and rows that name another key. */
  readonly others: readonly LedgerRow[];
  /** The rows among `others` that name another key although they match one of these requests. */
  readonly chargedToOthers: readonly LedgerRow[];
}

/** Requests by their ids; an id that several requests have identifies none of them. */
export function requestsById(requests: readonly Pick<Identity, "id">[]): ReadonlyMap<string, number> {
  const byId = new Map<string, number>();
  const shared = new Set<string>();
  for (const [index, { id }] of requests.entries()) {
    if (id === null) continue;
    if (byId.has(id)) shared.add(id);
    byId.set(id, index);
  }
  for (const id of shared) byId.delete(id);
  return byId;
}

/** Assigns the rows of a ledger to requests: by the id, or by the input if it has no id that callers see. */
export function matchRows(requests: readonly Identity[], rows: readonly LedgerRow[]): Matched {
  const byId = requestsById(requests);
  const byInput = new Map(requests.map(({ input }, index) => [input, index] as const));
  const matched: LedgerRow[][] = requests.map(() => []);
  const others: LedgerRow[] = [];
  const chargedToOthers: LedgerRow[] = [];
  const indexById = ({ requestId }: LedgerRow) => (requestId === null ? undefined : byId.get(requestId));
  const isByIds = rows.some((row) => indexById(row) !== undefined);
  for (const row of rows) {
    if (row.isOwnKey === false) {
      others.push(row);
      // The input of another caller's request may happen to be the same.
      const index = isByIds ? indexById(row) : byInput.get(row.input);
      if (index !== undefined) chargedToOthers.push(row);
      continue;
    }
    const index = indexById(row) ?? byInput.get(row.input);
    const own = index === undefined ? undefined : matched[index];
    (own ?? others).push(row);
  }
  return { rows: matched, others, chargedToOthers };
}
