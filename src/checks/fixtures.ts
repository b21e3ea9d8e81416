import type { Dialect } from "../dialects/index.ts";
import type { Key, KeyName, ModelRole, Provisioner, Target } from "../target/index.ts";
import type { KeyAcceptance } from "./key-acceptance.ts";
import type { Need } from "./need.ts";
import { onceUnlessFailed } from "./once-unless-failed.ts";
import type { Response } from "./response.ts";
import { type RoleTrial, verifyRole } from "./role-verification.ts";
import { type Send, ServedModels } from "./served-models.ts";
import { type Fixture, staticFixture, unblockLines } from "./static-fixture.ts";

/** Roles whose models are found at the start. */
const FOUND_AT_START: readonly ModelRole[] = ["plain", "unknown"];
/** Keys that should be served, and keys that should be denied because of their account. Trying any other key would use it up. */
const SERVED: readonly KeyName[] = ["second", "other"];
const DENIED: readonly KeyName[] = ["capped", "childExhausted", "empty", "emptySecond"];

export interface FixturesOptions {
  readonly target: Target;
  readonly provisioner: Provisioner | undefined;
  readonly signal: AbortSignal;
  /** Called with every created key before anything is sent with it, because it is a secret. */
  readonly onKey: (key: Key) => void;
  /** Sends the requests that show whether the gateway knows a model. */
  readonly send: Send;
  /** How the model of a role is verified. */
  readonly trial: Omit<RoleTrial, "send" | "target">;
  readonly keys: KeyAcceptance;
}

/** What a run has to work with: the target, and what provisioners add to it during the run. */
export class Fixtures {
  /** States of the keys that were created for this run, one entry per key. */
  readonly made: string[] = [];
  readonly provisioner: Provisioner | undefined;
  readonly #signal: AbortSignal;
  readonly #onKey: (key: Key) => void;
  readonly #found = new Map<string, Promise<Fixture>>();
  readonly #served: ServedModels;
  readonly #keys: KeyAcceptance;
  /** How the gateway rejects keys that the target file names, by their need. */
  readonly #refusedKeys = new Map<string, string>();
  readonly #trial: FixturesOptions["trial"];
  readonly #send: Send;
  readonly #verified = new Map<string, Promise<string | undefined>>();
  #listed: readonly string[] = [];
  #target: Target;

  constructor({ target, provisioner, signal, onKey, send, trial, keys }: FixturesOptions) {
    this.#send = send;
    this.#trial = trial;
    this.provisioner = provisioner;
    this.#served = new ServedModels(send);
    this.#target = target;
    this.#signal = signal;
    this.#onKey = onKey;
    this.#keys = keys;
  }

  get target(): Target {
    return this.#target;
  }

  /**
   * Selects the models that the target file does not name.
   *
   * @param listed the gateway's list.
   * @param unknown an id that no model has.
   */
  async fillModels(listed: readonly string[], unknown: string): Promise<void> {
    this.#listed = listed;
    const { dialects } = this.#target;
    for (const dialect of dialects) this.#setModel("unknown", dialect, this.#modelOf("unknown", dialect) ?? unknown);
    const named = { chat: this.#modelOf("plain", "chat"), messages: this.#modelOf("plain", "messages") };
    const plain = await this.#served.choosePlain(named, listed, dialects);
    for (const dialect of dialects) this.#setModel("plain", dialect, plain[dialect]);
  }

  /**
   * Whether a need is met: by the target file, or by a provisioner that creates the state. Looked up once per run and dialect.
   */
  find(need: Need, dialect: Dialect): Promise<Fixture> {
    const name = need.startsWith("model.") ? `${need} ${dialect}` : need;
    return onceUnlessFailed(this.#found, name, () => this.#find(need, dialect));
  }

  /**
   * Like `find`. A model that the target file names for a role is also tried once per run and dialect: a model that does not
   * play its role is not evidence against the gateway.
   */
  async findVerified(need: Need, dialect: Dialect): Promise<Fixture> {
    const fixture = await this.find(need, dialect);
    if (!fixture.ok || !need.startsWith("model.") || this.#target.source === "embedded") return fixture;
    const role = need.slice(6) as ModelRole;
    const name = `${role} ${dialect}`;
    const trial = { ...this.#trial, send: this.#send, target: this.#target };
    const because = await onceUnlessFailed(this.#verified, name, () => verifyRole(trial, role, dialect));
    if (because === undefined) return fixture;
    return { ok: false, unblock: unblockLines(need, this.#target, dialect), because };
  }

  async #find(need: Need, dialect: Dialect): Promise<Fixture> {
    const refused = this.#refusedKeys.get(need);
    const fixture: Fixture =
      refused === undefined
        ? staticFixture(need, this.#target, dialect)
        : { ok: false, unblock: unblockLines(need), because: `the gateway rejects the key: ${refused}` };
    if (fixture.ok && need.startsWith("model."))
      return this.#withoutUnknown(need.slice(6) as ModelRole, dialect, fixture);
    if (fixture.ok || fixture.skipped !== undefined || !need.startsWith("key.")) return fixture;
    const key = await this.freshKey(need as `key.${KeyName}`);
    if (key === undefined || this.provisioner === undefined) return fixture;
    this.#target = { ...this.#target, keys: { ...this.#target.keys, [need.slice(4)]: key } };
    return { ok: true, attestation: { state: need, by: this.provisioner.attestation } };
  }

  /**
   * A model that the gateway does not know in a dialect is not a fixture there. If the gateway lists it but knows it in no
   * dialect, the gateway is at fault.
   */
  async #withoutUnknown(role: ModelRole, dialect: Dialect, fixture: Fixture): Promise<Fixture> {
    const id = this.#modelOf(role, dialect);
    if (id === undefined || FOUND_AT_START.includes(role) || this.#target.source === "embedded") return fixture;
    const refusal = await this.#served.refusal(id, dialect);
    if (refusal === undefined) return fixture;
    const otherDialects = this.#target.dialects.filter(
      (other) => other !== dialect && this.#modelOf(role, other) !== undefined,
    );
    const refusals = await Promise.all(
      otherDialects.map((other) => this.#served.refusal(this.#modelOf(role, other) ?? id, other)),
    );
    if (this.#listed.includes(id) && refusals.every((other) => other !== undefined)) return fixture;
    this.#setModel(role, dialect, undefined);
    const unblock = unblockLines(`model.${role}`, this.#target, dialect);
    return { ok: false, unblock, because: `this gateway does not serve ${id} in the ${dialect} dialect: ${refusal}` };
  }

  /**
   * Removes keys that the gateway does not know. The embedded gateway knows all of its keys.
   *
   * @returns how the gateway rejects each of them.
   */
  async dropRejectedKeys(): Promise<ReadonlyMap<KeyName, Response>> {
    const dropped = new Map<KeyName, Response>();
    if (this.#target.source === "embedded") return dropped;
    const { keys } = this.#target;
    const drop = async (name: KeyName, rejectionOf: (key: Key) => Promise<Response | undefined>) => {
      const key = keys[name];
      const rejection = key && (await rejectionOf(key));
      if (rejection === undefined) return;
      dropped.set(name, rejection);
      this.#refusedKeys.set(`key.${name}`, rejection.summary);
      const { [name]: _, ...others } = this.#target.keys;
      this.#target = { ...this.#target, keys: { ...others, valid: keys.valid } };
    };
    await Promise.all([
      ...SERVED.map((name) => drop(name, (key) => this.#keys.rejection(key))),
      ...DENIED.map((name) => drop(name, (key) => this.#keys.rejectionAsUnknown(key))),
    ]);
    return dropped;
  }

  #modelOf(role: ModelRole, dialect: Dialect): string | undefined {
    return this.#target.models[dialect][role];
  }

  #setModel(role: ModelRole, dialect: Dialect, id: string | undefined): void {
    const { [role]: _, ...others } = this.#target.models[dialect];
    const models = { ...this.#target.models, [dialect]: id === undefined ? others : { ...others, [role]: id } };
    this.#target = { ...this.#target, models };
  }

  /** A new key for a state that a probe uses up; `undefined` if nobody can create one. */
  async freshKey(state: `key.${KeyName}`): Promise<Key | undefined> {
    const key = await this.provisioner?.fresh(state, this.#signal);
    if (key === undefined) return undefined;
    this.made.push(state);
    this.#onKey(key);
    return key;
  }

  /** Registers a key that was created for this run as a secret. */
  hide(key: Key): void {
    this.made.push("key.upgraded");
    this.#onKey(key);
  }
}
