import type { LedgerReading, LedgerRow } from "../../src/target/index.ts";

const COUNTS = ["requests", "input", "cachedInput", "cacheWrite5m", "cacheWrite1h", "output", "reasoning"] as const;

/**
 * Removes rows from before the first request: the time range of a reading begins earlier, because clocks differ.
 *
 * @param merges whether a row may stand for several requests; what was there before is then a part of a row.
 */
export function withoutEarlier(reading: LedgerReading, before: readonly LedgerRow[], merges: boolean): LedgerReading {
  return { ...reading, rows: merges ? subtracted(reading.rows, before) : remaining(reading.rows, before) };
}

/** A row may change later, for example its cost. */
const nameOf = (row: LedgerRow): string =>
  row.requestId === null ? JSON.stringify(row) : `${row.requestId} ${row.timeMs}`;

function remaining(rows: readonly LedgerRow[], before: readonly LedgerRow[]): readonly LedgerRow[] {
  const earlier = new Map<string, number>();
  for (const row of before) earlier.set(nameOf(row), (earlier.get(nameOf(row)) ?? 0) + 1);
  return rows.filter((row) => {
    const left = earlier.get(nameOf(row)) ?? 0;
    earlier.set(nameOf(row), left - 1);
    return left <= 0;
  });
}

/** Whether two merged rows can be the same one at different times. */
function isSame(a: LedgerRow, b: LedgerRow): boolean {
  return a.requestId === b.requestId && a.model === b.model && a.status === b.status && a.isOwnKey === b.isOwnKey;
}

function subtracted(rows: readonly LedgerRow[], before: readonly LedgerRow[]): readonly LedgerRow[] {
  const left = [...rows];
  for (const earlier of before) {
    const has = (row: LedgerRow) => isSame(row, earlier) && row.requests >= earlier.requests;
    const atSameTime = left.findIndex((row) => has(row) && row.timeMs === earlier.timeMs);
    // The time of a merged row may be that of its last request.
    const index = atSameTime >= 0 ? atSameTime : left.findIndex(has);
    const row = left[index];
    if (row !== undefined) left[index] = difference(row, earlier);
  }
  return left.filter(({ requests }) => requests > 0);
}

function difference(row: LedgerRow, earlier: LedgerRow): LedgerRow {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, row[name] - earlier[name]]));
  const { costMicroUsd } = row;
  return {
    ...row,
    ...counts,
    costMicroUsd: costMicroUsd === null ? null : costMicroUsd - (earlier.costMicroUsd ?? 0),
  };
}
