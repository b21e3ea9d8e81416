/** Marks a file as ours, in SQLite's application_id header field: "GNTL". */
export const APPLICATION_ID = 0x474e544c;

/** Version of the tables below; files of a later version are not opened. */
export const FORMAT = 1;

/** Rows keep their creation order, which determines ids and a key's ordinal in its account. */
export const SCHEMA = `
CREATE TABLE accounts (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  rpm INTEGER NOT NULL,
  in_flight INTEGER NOT NULL,
  balance_micro_usd INTEGER NOT NULL
) STRICT;
CREATE TABLE keys (
  id TEXT NOT NULL PRIMARY KEY,
  secret TEXT NOT NULL UNIQUE,
  account TEXT NOT NULL REFERENCES accounts,
  parent TEXT REFERENCES keys,
  cap_micro_usd INTEGER,
  budget_micro_usd INTEGER,
  revoked INTEGER NOT NULL,
  spent_micro_usd INTEGER NOT NULL,
  spent_by_day TEXT NOT NULL
) STRICT;
CREATE TABLE ready_keys (name TEXT NOT NULL PRIMARY KEY, key TEXT NOT NULL REFERENCES keys) STRICT;
CREATE TABLE history (number INTEGER PRIMARY KEY, activity TEXT NOT NULL) STRICT;
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${FORMAT};
`;

// Rows are passed as one JSON array per table: one call instead of one per row, and a busy gateway has a thousand rows per
// save.

export const WRITE_ACCOUNTS = `
INSERT INTO accounts (id, name, rpm, in_flight, balance_micro_usd)
SELECT value ->> 'id', value ->> 'name', value ->> 'rpm', value ->> 'inFlight', value ->> 'balanceMicroUsd'
FROM json_each(?) WHERE true
ON CONFLICT (id) DO UPDATE SET
  rpm = excluded.rpm, in_flight = excluded.in_flight, balance_micro_usd = excluded.balance_micro_usd`;

export const WRITE_KEYS = `
INSERT INTO keys
  (id, secret, account, parent, cap_micro_usd, budget_micro_usd, revoked, spent_micro_usd, spent_by_day)
SELECT value ->> 'id', value ->> 'secret', value ->> 'account', value ->> 'parent', value ->> 'capMicroUsd',
  value ->> 'budgetMicroUsd', value ->> 'revoked', value ->> 'spentMicroUsd', value -> 'spentByDay'
FROM json_each(?) WHERE true
ON CONFLICT (id) DO UPDATE SET
  cap_micro_usd = excluded.cap_micro_usd, budget_micro_usd = excluded.budget_micro_usd, revoked = excluded.revoked,
  spent_micro_usd = excluded.spent_micro_usd, spent_by_day = excluded.spent_by_day`;

export const WRITE_READY_KEYS = `
INSERT INTO ready_keys (name, key) SELECT value ->> 0, value ->> 1 FROM json_each(?) WHERE true
ON CONFLICT (name) DO NOTHING`;

export const WRITE_HISTORY = "INSERT INTO history (activity) SELECT value FROM json_each(?)";

/** Keeps the newest rows, the number of which is the parameter. */
export const PRUNE_HISTORY = "DELETE FROM history WHERE number <= (SELECT max(number) FROM history) - ?";

export const READ_ACCOUNTS = `
SELECT id, name, rpm, in_flight AS inFlight, balance_micro_usd AS balanceMicroUsd FROM accounts ORDER BY rowid`;

export const READ_KEYS = `
SELECT id, secret, account, parent, cap_micro_usd AS capMicroUsd, budget_micro_usd AS budgetMicroUsd, revoked,
  spent_micro_usd AS spentMicroUsd, spent_by_day AS spentByDay
FROM keys ORDER BY rowid`;

export const READ_READY_KEYS = "SELECT name, key FROM ready_keys ORDER BY rowid";

export const READ_HISTORY = "SELECT activity FROM history ORDER BY number";
