import { EXIT, GauntletError, sleep } from "../core/index.ts";
import {
  isRefusedIn,
  MIN_REFUSED,
  type Offer,
  type Outage,
  offerName,
  outageInWords,
  outagesIn,
  refusesModel,
} from "./outage.ts";
import type { RequestSpec } from "./request-spec.ts";
import { variantOf } from "./request-variant.ts";
import type { Response } from "./response.ts";

/** Between the plain requests that look whether a model is served again, ms; the last one repeats. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000] as const;
/** A model that was not served again after this long is given up, ms: cool-downs of gateways take up to a minute. */
const MAX_OUTAGE_MS = 75_000;
/** The same for all outages of a run together. */
const MAX_WAITED_MS = 240_000;
/** A request that was refused this often while plain ones were served is refused for itself. */
const MAX_CLEARED = 2;

/** A model is no longer served: what needs it cannot be judged. */
export class ModelLost extends GauntletError {
  readonly code = "MODEL_LOST";
  readonly exit = EXIT.inconclusive;
}

export interface RecoveryOptions {
  /** Monotonic, ms. */
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
  /** Sends a request at once. */
  readonly send: (request: RequestSpec) => Promise<Response>;
  /** Everything received so far. */
  readonly responses: () => readonly Response[];
  /** Called when a wait for a model begins. */
  readonly onWait: (model: string, forMs: number) => void;
}

/**
 * Waits for a model that was served and is refused. A gateway may leave a provider alone for a while when it failed, and some checks make
 * providers fail: what is refused meanwhile is no finding about the request.
 */
export class Recovery {
  readonly #options: RecoveryOptions;
  /** Offers that were served, by name. */
  readonly #served = new Set<string>();
  readonly #cleared = new Map<string, number>();
  /** Offers that were given up, with the outage. */
  readonly #lost = new Map<string, string>();
  #looking: Promise<boolean> | undefined;
  #waiting: Promise<unknown> | undefined;
  #waitedMs = 0;
  #hasProbed = false;

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /** Resolves when no model is waited for. */
  get settled(): Promise<unknown> {
    return this.#waiting ?? Promise.resolve();
  }

  /** Times in which a model was not served. */
  get outages(): Outage[] {
    return this.#hasProbed ? outagesIn(this.#options.responses()) : [];
  }

  /** The models that are no longer served, as a sentence. */
  get lost(): string | undefined {
    const [first] = this.#lost.values();
    return first;
  }

  noteServed(offer: Offer): void {
    this.#served.add(offerName(offer));
  }

  /** @throws ModelLost if a valid request needs a model that was given up. */
  throwIfLost(offer: Offer, intent: Response["asked"]["intent"]): void {
    const why = intent === "good" || intent === "either" ? this.#lost.get(offerName(offer)) : undefined;
    if (why !== undefined) throw new ModelLost(why);
  }

  /**
   * Whether a request was refused because its model was not served for a while. If so, waits until it is served again.
   *
   * @returns whether the request should be sent again.
   */
  async isOver(response: Response, model: string): Promise<boolean> {
    const { asked, exchange } = response;
    const name = offerName({ endpoint: asked.endpoint, model });
    if (asked.probe === true || !refusesModel(response) || !this.#served.has(name)) return false;
    await this.settled;
    if (isRefusedIn(this.outages, response)) return !this.#lost.has(name);
    // Something else is wrong on purpose with the others.
    if (asked.intent !== "good" && asked.intent !== "either") return false;
    const variant = `${response.status} ${variantOf(exchange)}`;
    const cleared = this.#cleared.get(variant) ?? 0;
    if (cleared >= MAX_CLEARED) return false;
    this.#looking ??= this.#look(response, model).finally(() => {
      this.#looking = undefined;
    });
    if (await this.#looking) return !this.#lost.has(name) && isRefusedIn(this.outages, response);
    this.#cleared.set(variant, cleared + 1);
    return false;
  }

  /** Sends plain requests until one is served. @returns whether the model was not served for a while. */
  async #look(suspect: Response, model: string): Promise<boolean> {
    this.#hasProbed = true;
    for (let refused = 0; refused < MIN_REFUSED; refused++) {
      if (refused > 0) await this.#pause(PAUSES_MS[0]);
      const probe = await this.#probe(suspect, model);
      if (!refusesModel(probe)) return false;
    }
    const waiting = this.#wait(suspect, model);
    this.#waiting = waiting.catch(() => undefined);
    try {
      await waiting;
    } finally {
      this.#waiting = undefined;
    }
    return true;
  }

  async #wait(suspect: Response, model: string): Promise<void> {
    const { nowMs, onWait } = this.#options;
    const startMs = nowMs();
    const maxMs = Math.min(MAX_OUTAGE_MS, MAX_WAITED_MS - this.#waitedMs);
    onWait(model, maxMs);
    try {
      for (let at = 1; nowMs() - startMs < maxMs; at++) {
        await this.#pause(PAUSES_MS[Math.min(at, PAUSES_MS.length - 1)] ?? 0);
        if ((await this.#probe(suspect, model)).admitted) return;
      }
    } finally {
      this.#waitedMs += nowMs() - startMs;
    }
    const outage = this.outages.find(({ first }) => first === suspect);
    const name = offerName({ endpoint: suspect.asked.endpoint, model });
    this.#lost.set(name, outage === undefined ? `\`${model}\` is no longer served` : outageInWords(outage));
  }

  #probe({ id, asked: { endpoint } }: Response, model: string): Promise<Response> {
    const plain = { endpoint, model: { id: model }, mode: "non-streaming", maxTokens: 8 } as const;
    return this.#options.send({ ...plain, intent: "either", repeats: false, recoveryOf: id });
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, this.#options.signal);
    this.#options.signal.throwIfAborted();
  }
}
