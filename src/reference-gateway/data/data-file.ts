import { accessSync, chmodSync, closeSync, constants, existsSync, openSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type Libsql from "libsql";
import { fileProblem, messageOf, UsageError } from "../../core/index.ts";
import type { SavedAccount, SavedKey } from "../accounts/account.ts";
import type { Activity } from "../history.ts";
import * as sql from "./schema.ts";

/** What a data file holds. */
export interface SavedState {
  /** In creation order, like the keys. */
  readonly accounts: readonly SavedAccount[];
  readonly keys: readonly SavedKey[];
  /** Ids of ready-made keys by their names; empty in a new file. */
  readonly readyKeys: Readonly<Record<string, string>>;
  /** Oldest first. */
  readonly history: readonly Activity[];
}

/** Rows to write, as JSON. */
export interface Changes {
  /** {@link SavedAccount}s, new or changed. */
  readonly accounts: readonly string[];
  /** {@link SavedKey}s, new or changed. */
  readonly keys: readonly string[];
  /** Pairs of name and id. */
  readonly readyKeys: readonly string[];
  /** New {@link Activity} rows. */
  readonly history: readonly string[];
  /** Rows of the history that are kept. */
  readonly keptRows: number;
}

export type SqliteConnection = InstanceType<typeof Libsql>;

/** A second: a gateway that is shutting down closes the file in that time. */
const BUSY_MS = 1_000;

/** The SQLite file of one gateway, locked until the gateway closes it or ends, however it ends. */
export class DataFile {
  readonly path: string;
  readonly #db: SqliteConnection;
  #isOpen = true;

  private constructor(path: string, db: SqliteConnection) {
    this.path = path;
    this.#db = db;
  }

  /**
   * Opens the file, or creates it, readable by its owner only.
   *
   * @throws UsageError when it cannot be opened, is not ours, or is locked by another gateway.
   */
  static async open(name: string): Promise<DataFile> {
    // An absolute path: the library treats some names as server addresses.
    const path = resolve(name);
    makePrivate(path);
    const Database = await loadSqlite("data");
    try {
      const db = new Database(path);
      prepare(path, db);
      return new DataFile(path, db);
    } catch (error) {
      throw openProblem(path, error);
    }
  }

  /** @throws UsageError when it cannot be read. */
  read(): SavedState {
    const rows = <T>(query: string) => this.#db.prepare(query).all() as T[];
    try {
      return {
        accounts: rows<SavedAccount>(sql.READ_ACCOUNTS),
        keys: rows<KeyRow>(sql.READ_KEYS).map((row) => ({
          ...row,
          revoked: row.revoked === 1,
          spentByDay: JSON.parse(row.spentByDay),
        })),
        readyKeys: Object.fromEntries(
          rows<{ name: string; key: string }>(sql.READ_READY_KEYS).map(({ name, key }) => [name, key]),
        ),
        history: rows<{ activity: string }>(sql.READ_HISTORY).map(({ activity }) => JSON.parse(activity)),
      };
    } catch (error) {
      throw openProblem(this.path, error);
    }
  }

  /** Writes everything or nothing. @throws when it cannot be written. */
  write({ accounts, keys, readyKeys, history, keptRows }: Changes): void {
    const db = this.#db;
    const write = (query: string, rows: readonly string[]) => {
      if (rows.length > 0) db.prepare(query).run(`[${rows.join(",")}]`);
    };
    db.exec("BEGIN IMMEDIATE");
    try {
      write(sql.WRITE_ACCOUNTS, accounts);
      write(sql.WRITE_KEYS, keys);
      write(sql.WRITE_READY_KEYS, readyKeys);
      write(sql.WRITE_HISTORY, history);
      if (history.length > 0) db.prepare(sql.PRUNE_HISTORY).run(keptRows);
      db.exec("COMMIT");
    } catch (error) {
      // When the disk is full, SQLite may already have rolled back.
      if (db.inTransaction) db.exec("ROLLBACK");
      throw error;
    }
  }

  /** Leaves one file without a write-ahead log, and releases the lock. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      this.#db.exec("PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT count(*) FROM accounts");
    } catch {
      // For example, the disk is full. The remaining log is read at the next start.
    }
    this.#db.close();
  }
}

interface KeyRow extends Omit<SavedKey, "revoked" | "spentByDay"> {
  readonly revoked: number;
  readonly spentByDay: string;
}

/** SQLite would create the file with the umask, readable by others; it will hold keys. */
function makePrivate(path: string): void {
  try {
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    // Not opened: closing it again would release the lock of a gateway in this process.
    else accessSync(path, constants.R_OK | constants.W_OK);
    if (statSync(path).isFile()) return;
  } catch (cause) {
    throw new UsageError(`data: ${path} cannot be opened: ${fileProblem(cause)}`, {
      hint: "Use a path in an existing folder that you can write to.",
      cause,
    });
  }
  throw new UsageError(`data: ${path} is not a file`, { hint: NAME_ANOTHER });
}

/** @param what start of the error message. @throws UsageError when the package is not installed. */
export async function loadSqlite(what: string): Promise<typeof Libsql> {
  try {
    return (await import("libsql")).default;
  } catch (cause) {
    throw new UsageError(`${what}: the package libsql cannot be loaded: ${messageOf(cause)}`, {
      hint: "Install it: npm install libsql. It is an optional dependency with builds for Linux, macOS and Windows.",
      cause,
    });
  }
}

/** Takes the lock and keeps it, and creates the tables in a new file. */
function prepare(path: string, db: SqliteConnection): void {
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE`);
  const { application, format, tables } = db
    .prepare(
      `SELECT (SELECT application_id FROM pragma_application_id) AS application,
         (SELECT user_version FROM pragma_user_version) AS format, (SELECT count(*) FROM sqlite_schema) AS tables`,
    )
    .get() as { application: number; format: number; tables: number };
  if (application === 0 && format === 0 && tables === 0) {
    // An empty file readable by others may have existed.
    chmodSync(path, 0o600);
    db.exec(sql.SCHEMA);
  } else if (application !== sql.APPLICATION_ID) {
    throw notOurs(path);
  } else if (format > sql.FORMAT) {
    throw new UsageError(
      `data: ${path} was written by a newer version (format ${format}; this version reads ${sql.FORMAT})`,
      {
        hint: "Use the version that wrote it, or name another file.",
      },
    );
  }
  // With the write-ahead log, a crash in the middle of a write is harmless; NORMAL avoids a wait for the disk per save.
  db.exec("COMMIT; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
}

const NAME_ANOTHER = "Name a file that is not there yet, or one that gauntlet gateway --data has made.";

function notOurs(path: string): UsageError {
  return new UsageError(`data: ${path} is not a data file of a gateway`, { hint: NAME_ANOTHER });
}

function openProblem(path: string, error: unknown): UsageError {
  if (error instanceof UsageError) return error;
  const code = codeOf(error);
  if (code === "SQLITE_NOTADB") return notOurs(path);
  if (code.startsWith("SQLITE_BUSY")) {
    return new UsageError(`data: ${path} is in use by another process`, {
      hint: "Stop the gateway that has it, or name another file.",
      cause: error,
    });
  }
  return new UsageError(`data: ${path} cannot be opened: ${messageOf(error)}`, { cause: error });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
