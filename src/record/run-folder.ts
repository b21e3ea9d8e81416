import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type JsonValue, messageOf, UsageError } from "../core/index.ts";
import { type RunRecord, runRecordSchema } from "./run-record.ts";

const RECORD = "run.json";
const JOURNAL = "journal.ndjson";
const EXCHANGES = join("exchanges", "exchanges.ndjson");
const RECORDINGS = join("exchanges", "recordings.ndjson");

/** Something that happened, as one line of the journal. */
export interface JournalEvent {
  readonly event: string;
  readonly [field: string]: unknown;
}

/**
 * The folder of one run. Lines are appended as things happen, each in one write, so that a kill at any moment leaves
 * whole lines; the record is written beside its place and moved there.
 *
 * What is handed in must be redacted already: this room knows no secrets.
 */
export class RunFolder implements Disposable {
  readonly path: string;
  readonly #journal: number;
  readonly #exchanges: number;
  readonly #recordings: number;

  /** @throws UsageError when the folder cannot be made or already holds a run. */
  constructor(path: string) {
    this.path = path;
    try {
      mkdirSync(join(path, "exchanges"), { recursive: true });
      if (existsSync(join(path, JOURNAL))) {
        throw new UsageError(`${path} already holds a run`, { hint: "Name another folder with --out." });
      }
      this.#journal = openSync(join(path, JOURNAL), "a");
      this.#exchanges = openSync(join(path, EXCHANGES), "a");
      this.#recordings = openSync(join(path, RECORDINGS), "a");
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(`the run folder ${path} cannot be written: ${messageOf(error)}`, {
        hint: "Name another folder with --out.",
        cause: error,
      });
    }
  }

  journal(event: JournalEvent): void {
    appendLine(this.#journal, { at: new Date().toISOString(), ...event });
  }

  exchange(exchange: object): void {
    appendLine(this.#exchanges, exchange);
  }

  /** @param round 0 for the first time that a check was run. */
  recording(check: string, recording: JsonValue, round = 0): void {
    appendLine(this.#recordings, { check, round, recording });
  }

  /** Writes another file of the run, whole or not at all. */
  file(name: string, text: string): void {
    writeAtomically(join(this.path, name), text);
  }

  /** Writes the record whole or not at all. */
  record(record: RunRecord): void {
    writeAtomically(join(this.path, RECORD), `${JSON.stringify(record, null, 1)}\n`);
  }

  [Symbol.dispose](): void {
    for (const file of [this.#journal, this.#exchanges, this.#recordings]) closeSync(file);
  }
}

/** Writes a file whole or not at all: a reader never sees half of it. */
export function writeAtomically(path: string, text: string): void {
  const beside = `${path}.part`;
  writeFileSync(beside, text);
  renameSync(beside, path);
}

function appendLine(file: number, value: object): void {
  appendFileSync(file, `${JSON.stringify(value)}\n`);
}

/** A run folder read back. */
export interface StoredRun {
  readonly record: RunRecord;
  /** One line of `exchanges.ndjson` each; their shape belongs to the room that wrote them. */
  readonly exchanges: readonly unknown[];
  /** By check, one per round; `undefined` for a round that came to none. */
  readonly recordings: ReadonlyMap<string, readonly (JsonValue | undefined)[]>;
}

/** @throws UsageError when the folder holds no run, or one that cannot be read. */
export function readRun(path: string): StoredRun {
  const recordings = new Map<string, JsonValue[]>();
  for (const line of readLines(join(path, RECORDINGS))) {
    const { check, round = 0, recording } = line as { check: string; round?: number; recording: JsonValue };
    const rounds = recordings.get(check) ?? [];
    rounds[round] = recording;
    recordings.set(check, rounds);
  }
  return {
    record: readRecord(path),
    exchanges: readLines(join(path, EXCHANGES)),
    recordings,
  };
}

export function readRecord(path: string): RunRecord {
  const file = join(path, RECORD);
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`${path} holds no readable run record: ${messageOf(error)}`, {
      hint: "Name the folder that a run printed.",
      cause: error,
    });
  }
  const result = runRecordSchema.safeParse(json);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new UsageError(`${file} is not a run record of this version: ${issue?.path.join(".")}: ${issue?.message}`);
}

/** Whole lines of a file; a last line that a kill cut off is left out. */
function readLines(path: string): unknown[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  return whole
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
