import { BudgetReached } from "../budget/index.ts";
import { sleep } from "../core/index.ts";
import type { Key, Target } from "../target/index.ts";
import type { RequestSpec } from "./request-spec.ts";
import type { Response } from "./response.ts";
import { likenessOf } from "./served-models.ts";

type SendPlain = (request: RequestSpec) => Promise<Response>;

/** A key that belongs to no account at any gateway. */
const UNKNOWN_KEY = "Bearer sk-gauntlet-00000000000000000000000000000000";
/** Statuses of a gateway without a model list. */
const NO_LIST: readonly unknown[] = [404, 405, 501];

/** Rejections are immediate. A response that takes longer than this, ms, is a reply in progress. */
const REJECTION_MS = 4_000;

const isRejected = (response: Response | undefined): boolean => response?.status === 401 || response?.status === 403;

/**
 * Finds out whether a gateway rejects a key everywhere. If it rejects the key on one endpoint only, the gateway is at fault and
 * is judged. If it rejects the key in every plain request, the key is wrong.
 */
export class KeyAcceptance {
  readonly #send: SendPlain;
  readonly #target: () => Target;
  readonly #known = new Map<string, Promise<Response | undefined>>();

  constructor(send: SendPlain, target: () => Target) {
    this.#send = send;
    this.#target = target;
  }

  /** @returns how the gateway rejects a key that should be served; `undefined` if it does not. Each key is tried once. */
  rejection(key: Key): Promise<Response | undefined> {
    return this.#once(key.name, () => this.#rejection(key));
  }

  /**
   * The same for a key that should be denied, for example because of an empty balance. It counts as rejected if the gateway
   * does not distinguish it from a key that does not exist.
   */
  rejectionAsUnknown(key: Key): Promise<Response | undefined> {
    return this.#once(key.name, async () => {
      const rejection = await this.#rejection(key);
      if (rejection === undefined) return undefined;
      const unknown = await this.#plain({ endpoint: rejection.requested.endpoint, authorization: UNKNOWN_KEY });
      return unknown !== undefined && likenessOf(unknown) === likenessOf(rejection) ? rejection : undefined;
    });
  }

  #once(name: string, find: () => Promise<Response | undefined>): Promise<Response | undefined> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const finding = find().catch((error: unknown) => {
      // A key that could not be tried does not count as rejected.
      if (error instanceof BudgetReached) return undefined;
      throw error;
    });
    this.#known.set(name, finding);
    return finding;
  }

  async #rejection(key: Key): Promise<Response | undefined> {
    let rejection: Response | undefined;
    for (const endpoint of this.#target().dialects) {
      const response = await this.#plain({ endpoint, key });
      if (response === undefined || !isRejected(response)) return undefined;
      rejection ??= response;
    }
    const list = await this.#plain({ endpoint: "models", key });
    if (isRejected(list) || NO_LIST.includes(list?.status)) return rejection;
    if (list?.admitted !== true) return undefined;
    // A public list says nothing about the key.
    const withoutKey = await this.#plain({ endpoint: "models", key: null });
    return withoutKey?.admitted === true ? rejection : undefined;
  }

  /** @returns `undefined` if no response arrives in time. */
  async #plain(request: RequestSpec): Promise<Response | undefined> {
    const { endpoint = "chat" } = request;
    const { models } = this.#target();
    // If no model is known, one that does not exist also shows whether the key is accepted.
    const id = (endpoint === "models" ? undefined : models[endpoint].plain) ?? "gauntlet";
    const responding = this.#send({
      ...request,
      intent: "either",
      repeats: false,
      maxTokens: 8,
      model: { id },
    });
    const responded = new AbortController();
    try {
      return await Promise.race([responding, sleep(REJECTION_MS, responded.signal).then(() => undefined)]);
    } finally {
      responded.abort();
      // The run records its response whenever it arrives.
      responding.catch(() => undefined);
    }
  }
}
