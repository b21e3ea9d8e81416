import type { Key, KeyName, Supplier, Target } from "../target/index.ts";
import type { Need } from "./need.ts";
import { type Supply, staticSupply } from "./states.ts";

export interface SuppliesOptions {
  readonly target: Target;
  readonly supplier: Supplier | undefined;
  readonly signal: AbortSignal;
  /** Told of every key that is made, before anything is sent with it: it is a secret. */
  readonly onKey: (key: Key) => void;
}

/** What a run has to work with: the target, and what is added to it on the way because somebody can make it. */
export class Supplies {
  /** States of the keys that were made for this run, one entry per key. */
  readonly made: string[] = [];
  readonly supplier: Supplier | undefined;
  readonly #signal: AbortSignal;
  readonly #onKey: (key: Key) => void;
  readonly #found = new Map<Need, Promise<Supply>>();
  #target: Target;

  constructor({ target, supplier, signal, onKey }: SuppliesOptions) {
    this.supplier = supplier;
    this.#target = target;
    this.#signal = signal;
    this.#onKey = onKey;
  }

  get target(): Target {
    return this.#target;
  }

  /**
   * Names the models that the target file does not.
   *
   * @param listed the first model of the gateway's list, if there is one.
   * @param unknown a name that no model has.
   */
  fillModels(listed: string | undefined, unknown: string): void {
    const { models } = this.#target;
    const chat = models.chat ?? listed;
    const filled = { chat, messages: models.messages ?? chat, unknown: models.unknown ?? unknown };
    this.#target = { ...this.#target, models: { ...models, ...filled } };
  }

  /** Whether a need is met: by the target file, or by a supplier that makes the state. Asked once per run. */
  supply(need: Need): Promise<Supply> {
    const known = this.#found.get(need);
    if (known !== undefined) return known;
    const found = this.#find(need);
    this.#found.set(need, found);
    return found;
  }

  async #find(need: Need): Promise<Supply> {
    const supply = staticSupply(need, this.#target);
    if (supply.ok || supply.skipped !== undefined || !need.startsWith("key.")) return supply;
    const key = await this.freshKey(need as `key.${KeyName}`);
    if (key === undefined || this.supplier === undefined) return supply;
    this.#target = { ...this.#target, keys: { ...this.#target.keys, [need.slice(4)]: key } };
    return { ok: true, attestation: { state: need, by: this.supplier.attestation } };
  }

  /** A key of its own for a state that a probe uses up; `undefined` when nobody can make one. */
  async freshKey(state: `key.${KeyName}`): Promise<Key | undefined> {
    const key = await this.supplier?.fresh(state, this.#signal);
    if (key === undefined) return undefined;
    this.made.push(state);
    this.#onKey(key);
    return key;
  }
}
