import { closeSync, existsSync, openSync } from "node:fs";
import { resolve } from "node:path";
import { fileProblem, messageOf, UsageError } from "../../core/index.ts";
import { loadSqlite, type SqliteConnection } from "../data/data-file.ts";
import type { SharedEvent } from "./shared-event.ts";

/** What one transaction of a replica added. */
export interface LoggedEvents {
  readonly replica: number;
  readonly events: readonly SharedEvent[];
}

/** "GNTS", in SQLite's application_id header field. */
const APPLICATION_ID = 0x474e5453;

/** How long to wait for the lock. A transaction takes well under 1 ms: after this time, another program must hold the lock. */
const BUSY_MS = 1_000;
/** The same after the file was unavailable: short, because waiting blocks the whole replica. */
const BUSY_AGAIN_MS = 5;

/** The shared file is locked or cannot be written: nothing was decided. */
export class StoreUnavailableError extends Error {}

const SCHEMA = `
  PRAGMA application_id = ${APPLICATION_ID};
  CREATE TABLE replicas (replica INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER NOT NULL);
  CREATE TABLE log (seq INTEGER PRIMARY KEY, replica INTEGER NOT NULL, events TEXT NOT NULL);`;

/** The SQLite file through which the replicas of a gateway share their state: an ordered log of what each of them did. */
export class SharedLog {
  readonly path: string;
  /** Number of this replica; never used twice. */
  readonly replica: number;
  readonly #db: SqliteConnection;
  readonly #read: ReturnType<SqliteConnection["prepare"]>;
  readonly #write: ReturnType<SqliteConnection["prepare"]>;
  #seen = 0;
  #wasUnavailable = false;

  private constructor(path: string, db: SqliteConnection) {
    this.path = path;
    this.#db = db;
    this.replica = Number(db.prepare("INSERT INTO replicas (pid) VALUES (?)").run(process.pid).lastInsertRowid);
    this.#read = db.prepare("SELECT seq, replica, events FROM log WHERE seq > ? ORDER BY seq");
    this.#write = db.prepare("INSERT INTO log (replica, events) VALUES (?, ?)");
  }

  /** Opens the file, or creates it, readable by its owner only. @throws UsageError when it cannot be opened. */
  static async open(name: string): Promise<SharedLog> {
    const path = resolve(name);
    const Database = await loadSqlite("shared");
    try {
      // SQLite would create it readable by others, and it holds keys.
      if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
      const db = new Database(path);
      // Nothing has to outlive the machine: no write waits for the disk.
      db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; BEGIN IMMEDIATE`);
      const { application, tables } = db
        .prepare(
          "SELECT (SELECT application_id FROM pragma_application_id) AS application, (SELECT count(*) FROM sqlite_schema) AS tables",
        )
        .get() as { application: number; tables: number };
      if (tables === 0) db.exec(SCHEMA);
      else if (application !== APPLICATION_ID) throw notOurs(path);
      db.exec("COMMIT");
      return new SharedLog(path, db);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      if (error instanceof Error && "code" in error && error.code === "SQLITE_NOTADB") throw notOurs(path);
      const why = error instanceof Error && "errno" in error ? fileProblem(error) : messageOf(error);
      throw new UsageError(`shared: ${path} cannot be opened: ${why}`, {
        hint: "Use a path in an existing folder that you can write to.",
        cause: error,
      });
    }
  }

  /**
   * Runs `act` while no other replica can read or write, and then appends what it returns.
   *
   * @throws StoreUnavailableError if the transaction cannot begin.
   */
  transaction(act: (news: readonly LoggedEvents[]) => readonly SharedEvent[]): void {
    this.#begin();
    try {
      const added = act(this.#news());
      if (added.length > 0) this.#seen = Number(this.#write.run([this.replica, JSON.stringify(added)]).lastInsertRowid);
      this.#db.exec("COMMIT");
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  #begin(): void {
    try {
      this.#db.exec("BEGIN IMMEDIATE");
    } catch (cause) {
      this.#setUnavailable(true);
      throw new StoreUnavailableError(`${this.path}: ${messageOf(cause)}`, { cause });
    }
    this.#setUnavailable(false);
  }

  #setUnavailable(isUnavailable: boolean): void {
    if (this.#wasUnavailable === isUnavailable) return;
    this.#wasUnavailable = isUnavailable;
    // Inside a transaction as well: it is a setting of the connection.
    this.#db.exec(`PRAGMA busy_timeout = ${isUnavailable ? BUSY_AGAIN_MS : BUSY_MS}`);
  }

  /** The replicas that have not ended, with their processes. */
  replicas(): readonly { readonly replica: number; readonly pid: number }[] {
    return this.#db.prepare("SELECT replica, pid FROM replicas").all() as { replica: number; pid: number }[];
  }

  /** Removes a replica. @returns false if another process has already removed it. */
  remove(replica: number): boolean {
    return this.#db.prepare("DELETE FROM replicas WHERE replica = ?").run(replica).changes > 0;
  }

  close(): void {
    this.#db.close();
  }

  /** What was appended since the last call, by other replicas: own events are always the newest when they are appended. */
  #news(): LoggedEvents[] {
    const rows = this.#read.all(this.#seen) as { seq: number; replica: number; events: string }[];
    this.#seen = rows.at(-1)?.seq ?? this.#seen;
    return rows.map(({ replica, events }) => ({ replica, events: JSON.parse(events) as SharedEvent[] }));
  }
}

function notOurs(path: string): UsageError {
  return new UsageError(`shared: ${path} was not created by gauntlet gateway --shared`, {
    hint: "Use a new path, or a file that gauntlet gateway --shared created.",
  });
}
