import { messageOf } from "../../core/index.ts";
import type { Account, ApiKey } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { type History, KEPT_ROWS } from "../history.ts";
import type { ReadyKeys } from "../ready-accounts.ts";
import type { DataFile } from "./data-file.ts";

/** What is saved. */
export interface SavedParts {
  readonly accounts: AccountStore;
  readonly history: History;
}

/** The most that a `kill -9` can lose, milliseconds; long enough to batch many requests into one write. */
const DELAY_MS = 100;

/** Retry interval while the file cannot be written. */
const RETRY_MS = 5_000;

/** Writes what changed to the data file, soon after it changed. */
export class Saver {
  readonly #file: DataFile;
  readonly #parts: SavedParts;
  readonly #readyKeys: ReadyKeys;
  /** Last written versions of accounts and keys, by id. */
  readonly #written = new Map<string, string>();
  /** Number of history rows ever written to the file. */
  #savedRows: number;
  #timer: NodeJS.Timeout | undefined;
  #isFailing = false;
  #isClosed = false;

  /** @param parts the contents of the file; only for a new file may it hold more. */
  constructor(file: DataFile, parts: SavedParts, readyKeys: ReadyKeys) {
    this.#file = file;
    this.#parts = parts;
    this.#readyKeys = readyKeys;
    this.#savedRows = parts.history.added;
  }

  /** Call after any change. */
  markChanged(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => this.#saveOrReport(), this.#isFailing ? RETRY_MS : DELAY_MS).unref();
  }

  /** Writes all changes since the last save, immediately. @throws when it cannot be written. */
  save(): void {
    const { accounts, history } = this.#parts;
    const changed = { accounts: this.#changed(accounts.accounts), keys: this.#changed(accounts.keys) };
    const { added } = history;
    const rows = history.newest(added - this.#savedRows);
    if (changed.accounts.length + changed.keys.length + rows.length === 0) return;
    const isFirst = this.#written.size === 0;
    this.#file.write({
      accounts: changed.accounts.map(({ saved }) => JSON.stringify(saved)),
      keys: changed.keys.map(({ saved }) => JSON.stringify(saved)),
      readyKeys: isFirst ? [...this.#readyKeys].map(([name, key]) => JSON.stringify([name, key.id])) : [],
      history: rows.map((row) => JSON.stringify(row)),
      keptRows: KEPT_ROWS,
    });
    for (const { id, version } of [...changed.accounts, ...changed.keys]) this.#written.set(id, version);
    this.#savedRows = added;
  }

  /** Saves for the last time and closes the file. Later changes stay in memory only. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#saveOrReport();
    this.#file.close();
  }

  #changed<One extends Account | ApiKey>(all: Iterable<One>): One[] {
    const changed: One[] = [];
    for (const one of all) if (this.#written.get(one.id) !== one.version) changed.push(one);
    return changed;
  }

  /** A gateway under load must not end because a disk is full: it continues and retries. */
  #saveOrReport(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      this.save();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) process.stderr.write(`gauntlet: ${this.#problemText(error)}\n`);
      this.#isFailing = true;
      this.markChanged();
    }
  }

  #problemText(error: unknown): string {
    const problem = `data: ${this.#file.path} cannot be written: ${messageOf(error)}`;
    return this.#isClosed
      ? `${problem}. What changed since it was written last is lost.`
      : `${problem}. The gateway continues in memory and tries again every ${RETRY_MS / 1_000} s.`;
  }
}
