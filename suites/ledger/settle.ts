import type { Session } from "../../src/checks/index.ts";
import type { Key, LedgerReading, LedgerRow } from "../../src/target/index.ts";
import { withoutEarlier } from "./earlier-rows.ts";

/** How long a ledger may lag, ms: the specification speaks of about a minute. */
export const SETTLE_TIMEOUT_MS = 90_000;
/** Between two readings, ms. */
const POLL_MS = 500;
/** How long nothing may change after all rows are there, ms: a second charge may follow the first. */
const QUIET_MS = 2_500;
/** If new rows appear this long after the last request, ms, the ledger is still being written. */
const STILL_MS = SETTLE_TIMEOUT_MS - 30_000;
/** Readings that may fail one after the other. */
const MAX_PROBLEMS = 3;

export type Settled = LedgerReading & {
  /** Rows were missing when the time was up, and others had only just appeared. */
  readonly isUnfinished: boolean;
};

interface Waiting {
  readonly key: Key;
  readonly fromMs: number;
  /** Rows that were there before the first request. */
  readonly before: readonly LedgerRow[];
  /** Called with the rows of each reading. @returns whether all rows that are waited for are there. */
  readonly isComplete: (rows: readonly LedgerRow[]) => boolean;
}

const mergesRows = ({ target }: Session): boolean => target.ledger?.fields.requests !== undefined;

/** Reads the ledger before the first request. A reading with a problem is repeated a few times. */
export async function readBefore(t: Session, { key, fromMs }: Pick<Waiting, "key" | "fromMs">): Promise<LedgerReading> {
  for (let problems = 1; ; problems++) {
    const reading = await t.ledger.read(key, fromMs);
    if (reading.problem === null || problems >= MAX_PROBLEMS) return reading;
    await t.wait(POLL_MS, "the ledger");
  }
}

/** Reads the ledger until all rows are there and nothing changes any more, or the time is up. */
export async function settle(t: Session, { key, fromMs, before, isComplete }: Waiting): Promise<Settled> {
  const startMs = Date.now();
  let problems = 0;
  let completeMs: number | undefined;
  let changedMs = 0;
  let last = "";
  for (;;) {
    const reading = withoutEarlier(await t.ledger.read(key, fromMs), before, mergesRows(t));
    const waitedMs = Date.now() - startMs;
    problems = reading.problem === null ? 0 : problems + 1;
    const now = fingerprint(reading);
    if (problems === 0 && now !== last && last !== "") changedMs = waitedMs;
    const isReady = problems === 0 && isComplete(reading.rows);
    if (problems >= MAX_PROBLEMS || waitedMs > SETTLE_TIMEOUT_MS)
      return { ...reading, isUnfinished: !isReady && changedMs > STILL_MS };
    if (!isReady || now !== last) completeMs = undefined;
    else completeMs ??= waitedMs;
    if (completeMs !== undefined && waitedMs - completeMs >= QUIET_MS) return { ...reading, isUnfinished: false };
    if (problems === 0) last = now;
    await t.wait(POLL_MS, "the ledger");
  }
}

function fingerprint({ rows }: LedgerReading): string {
  const sum = (of: (row: LedgerRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  return [rows.length, sum(({ costMicroUsd }) => costMicroUsd ?? 0), sum(({ input, output }) => input + output)].join();
}
