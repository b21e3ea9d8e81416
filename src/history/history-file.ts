import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf, UsageError } from "../core/index.ts";
import type { NamedFigures } from "../policy/index.ts";
import type { RunRecord, Status } from "../record/index.ts";
import { loadSqlite, type SqliteConnection } from "../reference-gateway/index.ts";
import { type Measured, measuredBy } from "./measured.ts";

/** "GgHi", so that another program's file is not mistaken for ours. */
const APPLICATION_ID = 0x47674869;
const FORMAT = 1;
/** Jobs on one machine may write to one file at the same time. */
const BUSY_MS = 5_000;

const SCHEMA = `
  CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, started_at TEXT NOT NULL, command TEXT NOT NULL, target TEXT NOT NULL, address TEXT NOT NULL,
    build TEXT, harness TEXT NOT NULL, verdict TEXT NOT NULL, checks TEXT NOT NULL
  ) STRICT;
  CREATE TABLE measured (
    id INTEGER PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs, name TEXT NOT NULL, workload TEXT NOT NULL,
    machine TEXT NOT NULL, problem TEXT
  ) STRICT;
  CREATE TABLE figures (
    measured INTEGER NOT NULL REFERENCES measured, metric TEXT NOT NULL, value REAL NOT NULL, samples INTEGER NOT NULL,
    PRIMARY KEY (measured, metric)
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT};
`;

/** A run as stored in the file. */
export interface StoredRun {
  readonly runId: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly command: string;
  readonly target: string;
  /** Base address, or `embedded`: the port of the embedded gateway differs in every run. */
  readonly address: string;
  readonly build: string | null;
  /** Version of Gauntlet that created it. */
  readonly harness: string;
  readonly verdict: string;
  readonly checks: StoredChecks;
  readonly measured: readonly Measured[];
}

/** The check results of a run. */
interface StoredChecks {
  /** By instance id. */
  readonly statuses: Readonly<Record<string, Status>>;
  /** Instances that were not selected; `null` if the command does not select checks. */
  readonly notSelected: readonly string[] | null;
}

interface FigureRow {
  readonly measured: number;
  readonly metric: string;
  readonly value: number;
  readonly samples: number;
}

interface MeasuredRow extends Omit<Measured, "figures"> {
  readonly id: number;
  readonly run_id: string;
}

/** The SQLite file in which runs are kept for years. */
export class HistoryFile implements Disposable {
  readonly #db: SqliteConnection;

  private constructor(db: SqliteConnection) {
    this.#db = db;
  }

  /**
   * @param make whether to create the file if it does not exist.
   * @throws UsageError if it cannot be opened or is not a history.
   */
  static async open(name: string, { make }: { readonly make: boolean }): Promise<HistoryFile> {
    // Absolute, because the library interprets some names as server addresses.
    const path = resolve(name);
    const there = existsSync(path);
    if (there ? !statSync(path).isFile() : !make)
      throw new UsageError(there ? `${name} is not a file` : `no history file ${name}`, {
        hint: "`gauntlet history DIR --db FILE` makes one from the folders of runs.",
      });
    const Database = await loadSqlite("history");
    let db: SqliteConnection | undefined;
    try {
      db = new Database(path);
      prepare(db, name);
      return new HistoryFile(db);
    } catch (error) {
      db?.close();
      throw error instanceof UsageError ? error : problem(name, error);
    }
  }

  /** @returns whether the run is new. @throws if it cannot be written: then nothing of it is. */
  add(record: RunRecord): boolean {
    const db = this.#db;
    const { runId, startedAt, command, target, harness, verdict } = record;
    db.exec("BEGIN IMMEDIATE");
    try {
      const { changes } = db
        .prepare("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .run(
          ...[runId, startedAt, command, target.name, addressOf(record)],
          ...[target.build ?? null, harness.version, verdict.result, JSON.stringify(checksOf(record))],
        );
      if (changes > 0) for (const part of measuredBy(record)) this.#addMeasured(runId, part);
      db.exec("COMMIT");
      return changes > 0;
    } catch (error) {
      if (db.inTransaction) db.exec("ROLLBACK");
      throw error;
    }
  }

  #addMeasured(runId: string, { name, workload, machine, problem, figures }: Measured): void {
    const { lastInsertRowid } = this.#db
      .prepare("INSERT INTO measured (run_id, name, workload, machine, problem) VALUES (?, ?, ?, ?, ?)")
      .run(runId, name, workload, machine, problem);
    const insert = this.#db.prepare("INSERT INTO figures VALUES (?, ?, ?, ?)");
    for (const [metric, { value, samples }] of Object.entries(figures))
      insert.run(lastInsertRowid, metric, value, samples);
  }

  /** Every run, oldest first. */
  runs(): StoredRun[] {
    const rows = <T>(query: string) => this.#db.prepare(query).all() as T[];
    const figures = new Map<number, NamedFigures>();
    for (const { measured, metric, value, samples } of rows<FigureRow>("SELECT * FROM figures")) {
      const known = figures.get(measured) ?? {};
      known[metric] = { value, samples };
      figures.set(measured, known);
    }
    const measured = new Map<string, Measured[]>();
    for (const { id, run_id, ...part } of rows<MeasuredRow>("SELECT * FROM measured ORDER BY id"))
      measured.set(run_id, [...(measured.get(run_id) ?? []), { ...part, figures: figures.get(id) ?? {} }]);
    const runs = rows<Omit<StoredRun, "measured" | "checks"> & { readonly checks: string }>(
      `SELECT run_id AS runId, started_at AS startedAt, command, target, address, build, harness, verdict, checks
       FROM runs ORDER BY started_at, run_id`,
    );
    return runs.map(({ checks, ...run }) => ({
      ...run,
      checks: JSON.parse(checks) as StoredChecks,
      measured: measured.get(run.runId) ?? [],
    }));
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}

function checksOf({ checks, notSelected }: RunRecord): StoredChecks {
  const statuses = Object.fromEntries(checks.map(({ id, status }) => [id, status]));
  return { statuses, notSelected: notSelected ?? null };
}

function addressOf({ target }: RunRecord): string {
  return target.source === "embedded" ? "embedded" : target.baseUrl;
}

function prepare(db: SqliteConnection, name: string): void {
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA foreign_keys = ON`);
  const { application, format, tables } = db
    .prepare(
      `SELECT (SELECT application_id FROM pragma_application_id) AS application,
         (SELECT user_version FROM pragma_user_version) AS format, (SELECT count(*) FROM sqlite_schema) AS tables`,
    )
    .get() as { application: number; format: number; tables: number };
  if (application === 0 && tables === 0) db.exec(`BEGIN EXCLUSIVE; ${SCHEMA} COMMIT`);
  else if (application !== APPLICATION_ID)
    throw new UsageError(`${name} is not a history of runs`, { hint: "Name another file with --db." });
  else if (format !== FORMAT)
    throw new UsageError(
      `${name} has format ${format}, written by another version; this version reads format ${FORMAT}`,
      { hint: "Use the version that wrote it, or name another file with --db and import the folders of the runs." },
    );
}

function problem(name: string, error: unknown): UsageError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "SQLITE_NOTADB")
    return new UsageError(`${name} is not a history of runs`, { hint: "Name another file with --db.", cause: error });
  return new UsageError(`the history ${name} cannot be opened: ${messageOf(error)}`, {
    hint: "Name a file in a folder that exists and can be written.",
    cause: error,
  });
}
