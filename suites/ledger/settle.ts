import type { Session } from "../../src/checks/index.ts";
import type { Key, LedgerReading, LedgerRow } from "../../src/target/index.ts";

/** How long a ledger may lag, ms: the specification speaks of about a minute. */
export const SETTLED_MS = 90_000;
/** Between two readings, ms. */
const LOOK_MS = 500;
/** How long nothing may change after all rows are there, ms: a second charge may follow the first. */
const QUIET_MS = 2_500;
/** Readings that may fail one after the other. */
const MAX_PROBLEMS = 3;

export type Settled = {
  readonly reading: LedgerReading;
  /** When each row was first seen, by request, ms after the last request had ended. */
  readonly waitedMs: number;
};

interface Waiting {
  readonly key: Key;
  readonly fromMs: number;
  /** Called with the rows of each reading. @returns whether all rows that are waited for are there. */
  readonly isComplete: (rows: readonly LedgerRow[]) => boolean;
}

/** Reads the ledger until all rows are there and nothing changes any more, or the time is up. */
export async function settle(t: Session, { key, fromMs, isComplete }: Waiting): Promise<Settled> {
  const startMs = Date.now();
  let problems = 0;
  let completeMs: number | undefined;
  let before = "";
  for (;;) {
    const reading = await t.ledger.read(key, fromMs);
    const waitedMs = Date.now() - startMs;
    problems = reading.problem === null ? 0 : problems + 1;
    if (problems >= MAX_PROBLEMS || waitedMs > SETTLED_MS) return { reading, waitedMs };
    const now = fingerprint(reading);
    const isReady = problems === 0 && isComplete(reading.rows);
    if (!isReady || now !== before) completeMs = undefined;
    else completeMs ??= waitedMs;
    if (completeMs !== undefined && waitedMs - completeMs >= QUIET_MS) return { reading, waitedMs };
    before = now;
    await t.wait(LOOK_MS, "the ledger");
  }
}

function fingerprint({ rows }: LedgerReading): string {
  const sum = (of: (row: LedgerRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  return [rows.length, sum(({ costMicroUsd }) => costMicroUsd ?? 0), sum(({ input, output }) => input + output)].join();
}
