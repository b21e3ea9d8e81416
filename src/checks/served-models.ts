import { sleep } from "../core/index.ts";
import { DIALECTS, type Dialect } from "../dialects/index.ts";
import { onceUnlessFailed } from "./once-unless-failed.ts";
import type { RequestSpec } from "./request-spec.ts";
import type { Response } from "./response.ts";

/** Sends a request of this run and reads the response. */
export type Send = (request: RequestSpec, dialect: Dialect) => Promise<Response>;

/** Maximum time of a refusal, ms: an unknown model is refused immediately, and a slower response is being generated. */
const REFUSAL_MS = 4_000;
/** Maximum number of listed models to try if the target file names none. */
const MAX_TRIED = 6;
/** Statuses about the key, the account or the moment, not about the model. */
const NOT_OF_THE_MODEL: readonly number[] = [401, 402, 403, 407, 408, 425, 429];

/** How a gateway treats a model in a dialect. */
interface Opinion {
  /** Its message if it does not know the model. */
  readonly refusal: string | undefined;
  /** Whether it replied, or was generating a reply. */
  readonly isServed: boolean;
}

export type PlainModels = Readonly<Record<Dialect, string | undefined>>;

/** Finds out which models a gateway knows in a dialect: some gateways serve a model in only one of the two. */
export class ServedModels {
  readonly #send: Send;
  readonly #opinions = new Map<string, Promise<Opinion>>();
  readonly #unknown = new Map<string, Promise<Response | undefined>>();

  constructor(send: Send) {
    this.#send = send;
  }

  /** The gateway's message for a model, if it is the same as for a model that does not exist. */
  async refusal(id: string, dialect: Dialect): Promise<string | undefined> {
    return (await this.#opinion(id, dialect)).refusal;
  }

  #opinion(id: string, dialect: Dialect): Promise<Opinion> {
    return onceUnlessFailed(this.#opinions, `${dialect} ${id}`, () => this.#ask(id, dialect));
  }

  /**
   * The plain model of each dialect, if the target file does not name it.
   *
   * If it names none: the first of the list that both dialects serve, else the first that both know, else the first for each. A
   * model that cannot chat, or whose provider is down, would fail every request. A named chat model is used for both dialects,
   * unless `/messages` knows others but not this one: then the messages model is missing.
   */
  async choosePlain(
    { chat, messages }: PlainModels,
    listed: readonly string[],
    dialects: readonly Dialect[],
  ): Promise<PlainModels> {
    const ids = listed.slice(0, MAX_TRIED);
    const [only] = dialects;
    if (dialects.length === 1 && only !== undefined) {
      const model = { chat, messages }[only] ?? (await this.#first(ids, [only])) ?? listed[0];
      return { chat: undefined, messages: undefined, [only]: model };
    }
    if (chat !== undefined) {
      if (messages !== undefined) return { chat, messages };
      const others = ids.filter((id) => id !== chat);
      const known = (await this.refusal(chat, "messages")) === undefined;
      return known || (await this.#first(others, ["messages"])) === undefined
        ? { chat, messages: chat }
        : { chat, messages: undefined };
    }
    if (messages === undefined) {
      const both = await this.#first(ids, DIALECTS);
      if (both !== undefined) return { chat: both, messages: both };
    }
    const first = (await this.#first(ids, ["chat"])) ?? listed[0] ?? messages;
    return { chat: first, messages: messages ?? (await this.#first(ids, ["messages"])) ?? first };
  }

  /** The first model that all these dialects serve, else the first that they know. */
  async #first(ids: readonly string[], dialects: readonly Dialect[]): Promise<string | undefined> {
    let known: string | undefined;
    for (const id of ids) {
      const opinions = await Promise.all(dialects.map((dialect) => this.#opinion(id, dialect)));
      if (opinions.every(({ isServed }) => isServed)) return id;
      if (opinions.every(({ refusal }) => refusal === undefined)) known ??= id;
    }
    return known;
  }

  /** A refusal counts only if it is repeated: a gateway may lose a model now and then, and that is a defect. */
  async #ask(id: string, dialect: Dialect): Promise<Opinion> {
    const first = await this.#request({ id }, dialect);
    if (first === undefined || first.admitted) return { refusal: undefined, isServed: true };
    if (!(await this.#isLikeUnknown(first, dialect))) return { refusal: undefined, isServed: false };
    const second = await this.#request({ id }, dialect);
    const isUnknown = second !== undefined && (await this.#isLikeUnknown(second, dialect));
    return { refusal: isUnknown ? second.summary : undefined, isServed: second === undefined || second.admitted };
  }

  async #isLikeUnknown(response: Response, dialect: Dialect): Promise<boolean> {
    const { status = 0 } = response;
    if (status < 400 || status > 499 || NOT_OF_THE_MODEL.includes(status)) return false;
    if (response.reason === "model_not_found") return true;
    const unknown = await onceUnlessFailed(this.#unknown, dialect, () => this.#request("unknown", dialect));
    return unknown !== undefined && likenessOf(unknown) === likenessOf(response);
  }

  /** @returns `undefined` if no response arrived in time: the gateway is generating it. */
  async #request(model: NonNullable<RequestSpec["model"]>, dialect: Dialect): Promise<Response | undefined> {
    const response = this.#send({ model, maxTokens: 8, intent: "either", repeats: false }, dialect);
    const settled = new AbortController();
    try {
      const late = sleep(REFUSAL_MS, settled.signal).then(() => undefined);
      return await Promise.race([response, late]);
    } finally {
      settled.abort();
      // A late response still belongs to the run.
      response.catch(() => undefined);
    }
  }
}

/** What distinguishes two refusals, without the words that name the model. */
export function likenessOf({ status, ownReason, error }: Response): string {
  return JSON.stringify([status, ownReason, error.type, error.code]);
}
