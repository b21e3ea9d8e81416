import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { didYouMeanPath, fileProblem, isObject, type JsonValue, StorageError, UsageError } from "../../core/index.ts";
import { type RunRecord, runRecordSchema } from "../run-record.ts";
import { AppendOnlyFile } from "./append-only-file.ts";
import { JOURNAL, type JournalEvent, readLines } from "./journal.ts";
import { EXCHANGES } from "./read-exchanges.ts";

const RECORD = "run.json";
/** The recordings that the checks were judged from, within a run folder. */
export const RECORDINGS: string = join("exchanges", "recordings.ndjson.gz");
/** How much of the journal a machine that loses power may lose, ms. */
const SYNC_MS = 1_000;

/** A line of `exchanges.ndjson.gz`: an exchange, and what was requested with it. */
export interface ExchangeLine {
  readonly requested: object;
  readonly exchange: object;
  /** Of a load run. */
  readonly phase?: string;
}

/**
 * The folder of one run. Lines are appended as things happen, each compressed and in one write, so that a kill at any time
 * leaves complete lines; the record is written to a temporary file next to it and renamed.
 *
 * Content must already be redacted: this module knows no secrets.
 */
export class RunFolder implements Disposable {
  readonly path: string;
  readonly #journal: AppendOnlyFile;
  readonly #exchanges: AppendOnlyFile;
  readonly #recordings: AppendOnlyFile;
  readonly #syncing: NodeJS.Timeout;
  readonly #onIoError: (ioError: StorageError) => void;
  #ioError: StorageError | undefined;

  /**
   * @param onIoError called once, if a line cannot be written, for example to a full disk. Nothing is appended afterwards, so
   * the files have no gaps; the run should end.
   * @throws UsageError if the folder cannot be created or already holds a run.
   */
  constructor(path: string, onIoError: (ioError: StorageError) => void = () => undefined) {
    this.path = path;
    this.#onIoError = onIoError;
    try {
      mkdirSync(join(path, "exchanges"), { recursive: true });
      // Opened exclusively: if two runs are given one folder at the same time, one fails.
      this.#journal = new AppendOnlyFile(join(path, JOURNAL), true);
      this.#exchanges = new AppendOnlyFile(join(path, EXCHANGES));
      this.#recordings = new AppendOnlyFile(join(path, RECORDINGS));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EEXIST" && existsSync(join(path, JOURNAL)))
        throw new UsageError(`${path} already holds a run`, { hint: "Name another folder with --out.", cause: error });
      throw new UsageError(`the run folder ${path} cannot be written: ${fileProblem(error)}`, {
        hint: "Name another folder with --out.",
        cause: error,
      });
    }
    this.#syncing = setInterval(() => this.#journal.sync(), SYNC_MS);
    this.#syncing.unref();
  }

  /** Why lines are missing, if any are. */
  get ioError(): StorageError | undefined {
    return this.#ioError;
  }

  journal(event: JournalEvent): void {
    this.#append(this.#journal, { at: new Date().toISOString(), ...event });
  }

  exchange(line: ExchangeLine): void {
    this.#append(this.#exchanges, line);
  }

  /** @param round 0 for the first time that a check was run. */
  recording(check: string, recording: JsonValue, round = 0): void {
    this.#append(this.#recordings, { check, round, recording });
  }

  #append(file: AppendOnlyFile, line: object): void {
    if (this.#ioError !== undefined) return;
    try {
      file.append(line);
    } catch (error) {
      this.#ioError = storageError(this.path, error);
      this.#onIoError(this.#ioError);
    }
  }

  /** Writes another file of the run, completely or not at all. @throws StorageError */
  file(name: string, text: string): void {
    writeAtomically(join(this.path, name), text);
  }

  /** Writes the record completely or not at all. @throws StorageError */
  record(record: RunRecord): void {
    writeAtomically(join(this.path, RECORD), `${JSON.stringify(record, null, 1)}\n`);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#syncing);
    for (const file of [this.#journal, this.#exchanges, this.#recordings]) file[Symbol.dispose]();
  }
}

/** Writes a file completely or not at all: a reader never sees half of it. @throws StorageError */
export function writeAtomically(path: string, text: string): void {
  const temporary = `${path}.part`;
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw storageError(path, error);
  }
}

function storageError(path: string, error: unknown): StorageError {
  return new StorageError(`${path} can no longer be written: ${fileProblem(error)}`, {
    hint: "Earlier results are kept. Free disk space, then run `gauntlet report` to make a report of them.",
    cause: error,
  });
}

/** A stored run. */
export interface StoredRun {
  readonly record: RunRecord;
  /** One line of the exchanges file each; their shape belongs to the module that wrote them. */
  readonly exchanges: readonly unknown[];
  /** By check, one per round; `undefined` for a round without one. */
  readonly recordings: ReadonlyMap<string, readonly (JsonValue | undefined)[]>;
}

/**
 * @param read creates the record; default from `run.json` alone.
 * @throws UsageError if the folder holds no run, or one that cannot be read.
 */
export function readRun(path: string, read: (path: string) => RunRecord = readRecord): StoredRun {
  const recordings = new Map<string, JsonValue[]>();
  for (const line of readLines(join(path, RECORDINGS))) {
    if (!isRecording(line)) continue;
    const { check, round = 0, recording } = line;
    const rounds = recordings.get(check) ?? [];
    rounds[round] = recording;
    recordings.set(check, rounds);
  }
  return {
    record: read(path),
    exchanges: readLines(join(path, EXCHANGES)),
    recordings,
  };
}

/** A run has few rounds: a larger number is not a round, and would create a huge array. */
const MAX_ROUNDS = 1_000;

function isRecording(line: unknown): line is { check: string; round?: number; recording: JsonValue } {
  if (!isObject(line) || typeof line["check"] !== "string" || line["recording"] === undefined) return false;
  const { round = 0 } = line;
  return Number.isInteger(round) && Number(round) >= 0 && Number(round) < MAX_ROUNDS;
}

/** @throws UsageError if the folder holds no record, or one that cannot be read. */
export function readRecord(path: string): RunRecord {
  const file = join(path, RECORD);
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw notARun(path, error);
  }
  const result = runRecordSchema.safeParse(json);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const isRecord = isObject(json) && "schemaVersion" in json;
  throw new UsageError(
    isRecord
      ? `${file} is not a run record of this version: ${issue?.path.join(".")}: ${issue?.message}`
      : `${file} is not a run record: it has no schemaVersion`,
  );
}

/** Says what is wrong with a path that does not lead to the folder of a run. */
function notARun(path: string, cause: unknown): UsageError {
  const next = "Name the folder that a run printed.";
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined)
    return new UsageError(`there is no folder "${path}"`, { hint: didYouMeanPath(path) + next, cause });
  if (found.isDirectory())
    return new UsageError(`${path} holds no readable run record: ${RECORD}: ${fileProblem(cause)}`, {
      hint: next,
      cause,
    });
  const folder = dirname(path);
  const hint = existsSync(join(folder, RECORD)) ? `Name its folder: ${folder}.` : next;
  return new UsageError(`${path} is a file, not the folder of a run`, { hint, cause });
}
