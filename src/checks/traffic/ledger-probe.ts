import type { Dialect } from "../../dialects/index.ts";
import { type Key, type LedgerReading, type LedgerTarget, readLedger } from "../../target/index.ts";
import { MissingFixture } from "../declare/need.ts";
import type { Traffic } from "./traffic.ts";

/** A balance that no check uses up: a thousand dollars. */
const AMPLE_MICRO_USD = 1_000_000_000;

/** The key that a check of the ledger uses. */
export interface LedgerKey {
  readonly key: Key;
  /** Nothing else is sent with it, so each of its rows belongs to a request of the check. */
  readonly isOwn: boolean;
}

/** Reads what the gateway recorded of our requests. */
export class LedgerProbe {
  readonly #traffic: Traffic;
  readonly #ledger: LedgerTarget;
  readonly #dialect: Dialect;

  /** @throws MissingFixture if the target has no ledger. */
  constructor(traffic: Traffic, dialect: Dialect) {
    const { ledger } = traffic.target;
    if (ledger === undefined) throw new MissingFixture("ledger", dialect);
    this.#traffic = traffic;
    this.#ledger = ledger;
    this.#dialect = dialect;
  }

  /** A key for requests whose rows are read: a new one if possible, else the declared one, else `valid`. */
  async key(): Promise<LedgerKey> {
    const { fixtures, target } = this.#traffic;
    if (this.#ledger.key !== undefined) return { key: this.#ledger.key, isOwn: true };
    if (fixtures.provisioner?.managed === undefined) return { key: target.keys.valid, isOwn: false };
    const account = await fixtures.managed(AMPLE_MICRO_USD, this.#dialect);
    return { key: await account.createKey(), isOwn: true };
  }

  /** @param fromMs Unix epoch, ms. @returns the rows of the key since then; our keys in it are masked. */
  async read(key: Key, fromMs: number): Promise<LedgerReading> {
    const { signal, recorder } = this.#traffic;
    const toMs = Date.now() + MARGIN_MS;
    // A row of several requests may have the time of the first one.
    const marginMs = this.#ledger.fields.requests === undefined ? MARGIN_MS : MARGIN_MS + MERGED_MS;
    return recorder.redactor.redactValue(
      await readLedger(this.#ledger, { key, fromMs: fromMs - marginMs, toMs, signal }),
    );
  }
}

/** How much the clocks of the gateway and of this machine may differ, ms. */
const MARGIN_MS = 5_000;
const MERGED_MS = 60_000;
