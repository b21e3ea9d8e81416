import type { Endpoint } from "./endpoint.ts";
import type { Outcome } from "./pipeline/outcome.ts";
import type { Usage } from "./relay/usage.ts";
import { Ring } from "./ring.ts";

/** One row of the activity history. It names the key by its id, never by its text. */
export interface Activity extends Usage {
  readonly requestId: string;
  /** Unix epoch milliseconds. */
  readonly atMs: number;
  readonly accountId: string | undefined;
  readonly keyId: string | undefined;
  readonly endpoint: Endpoint;
  readonly model: string | undefined;
  readonly stream: boolean;
  readonly status: number;
  readonly outcome: Outcome;
  readonly reason: string | undefined;
  readonly chargeMicroUsd: number;
  readonly durationMs: number;
  /** What the provider sent instead of a reply; shortened. */
  readonly upstreamError: string | undefined;
}

/** Rows that are kept; older ones are dropped. */
export const KEPT_ROWS = 20_000;

export class History {
  readonly #rows = new Ring<Activity>(KEPT_ROWS);
  #added = 0;

  add(row: Activity): void {
    this.#rows.add(row);
    this.#added += 1;
  }

  /** Rows added so far, including dropped ones. */
  get added(): number {
    return this.#added;
  }

  /** @returns the newest rows, at most `count`, oldest first. */
  newest(count: number): Activity[] {
    return this.#rows.newest(count);
  }

  /** @returns rows of one account, or of all, oldest first. */
  rows(accountId?: string): Activity[] {
    const rows: Activity[] = [];
    for (const row of this.#rows) if (accountId === undefined || row.accountId === accountId) rows.push(row);
    return rows;
  }
}
