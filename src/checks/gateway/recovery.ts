import { EXIT, GauntletError, sleep } from "../../core/index.ts";
import type { RequestSpec } from "../declare/request-spec.ts";
import { variantOf } from "../declare/request-variant.ts";
import type { Response } from "../response/response.ts";
import {
  describeOutage,
  isRefusedIn,
  MAX_OUTAGE_WAIT_MS,
  MIN_REFUSED,
  type Offer,
  type Outage,
  offerName,
  offerOf,
  outagesIn,
  refusesModel,
} from "./outage.ts";

/** Pauses between the plain requests that show whether a model is served again, ms; the last one repeats. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000] as const;
/** Maximum total of unsuccessful waits in a run, for all models, ms. Every cool-down may be followed by another one. */
const MAX_TOTAL_WAIT_MS = 240_000;
/** A request that was refused this often while plain ones were served is refused for its own content. */
const MAX_CLEARED = 2;

/** A model is no longer served: checks that need it cannot be judged. */
export class ModelLost extends GauntletError {
  readonly code = "MODEL_LOST";
  readonly exit = EXIT.inconclusive;
}

/** A model that the run stopped waiting for. */
interface Lost {
  readonly offer: Offer;
  /** The outage, as a sentence. */
  readonly why: string;
  /** When the run stopped waiting, monotonic, ms. */
  readonly sinceMs: number;
}

export interface RecoveryOptions {
  /** Monotonic, ms. */
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
  /** Sends a request immediately. */
  readonly send: (request: RequestSpec) => Promise<Response>;
  /** Everything received so far. */
  readonly responses: () => readonly Response[];
  /** Called when a wait for a model begins. */
  readonly onWait: (model: string, forMs: number) => void;
}

/**
 * Waits for a model that was served and is refused. A gateway may put a provider into cool-down after a failure, and some
 * checks make providers fail: a refusal during that time is not a finding about the request.
 */
export class Recovery {
  readonly #options: RecoveryOptions;
  /** Offers that were served, by name. */
  readonly #served = new Set<string>();
  readonly #cleared = new Map<string, number>();
  /** Offers that the run stopped waiting for, by name. */
  readonly #lost = new Map<string, Lost>();
  /** Offers being probed, by name: the result for one says nothing about another. */
  readonly #looking = new Map<string, Promise<boolean>>();
  readonly #waiting = new Set<Promise<unknown>>();
  #unsuccessfulWaitMs = 0;
  #hasProbed = false;

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /** Resolves when no model is being waited for. */
  get settled(): Promise<unknown> {
    return Promise.all(this.#waiting);
  }

  /** Periods in which a model was not served. */
  get outages(): Outage[] {
    return this.#hasProbed ? outagesIn(this.#options.responses()) : [];
  }

  /** The models that are no longer served, as a sentence. */
  get lost(): string | undefined {
    const [first] = this.#lost.values();
    return first?.why;
  }

  /** Records a response that served a model. */
  noteServed(response: Response): void {
    const offer = offerOf(response);
    if (offer === undefined) return;
    const name = offerName(offer);
    this.#served.add(name);
    // A request that was in flight all along says nothing about what happened later.
    if (response.exchange.timeline.dueUs / 1_000 >= (this.#lost.get(name)?.sinceMs ?? 0)) this.#lost.delete(name);
  }

  /** @throws ModelLost if a valid request needs a model that the run stopped waiting for. */
  throwIfLost(offer: Offer, intent: Response["requested"]["intent"]): void {
    const why = intent === "valid" || intent === "any" ? this.#lost.get(offerName(offer))?.why : undefined;
    if (why !== undefined) throw new ModelLost(why);
  }

  /**
   * Whether a request was refused because its model was temporarily not served. If so, waits until it is served again.
   *
   * @returns whether the request should be sent again.
   */
  async waitOutOutage(response: Response): Promise<boolean> {
    const { requested, exchange } = response;
    if (requested.probe === true || !refusesModel(response)) return false;
    const offer = offerOf(response);
    const name = offer && offerName(offer);
    if (offer === undefined || name === undefined || !this.#served.has(name)) return false;
    await this.settled;
    if (isRefusedIn(this.outages, response)) return !this.#lost.has(name);
    // The other intents have something else wrong on purpose.
    if (requested.intent !== "valid" && requested.intent !== "any") return false;
    const variant = `${response.status} ${variantOf(exchange)}`;
    const cleared = this.#cleared.get(variant) ?? 0;
    if (cleared >= MAX_CLEARED) return false;
    const others = this.#looking.get(name);
    const looking = others ?? this.#look(response, offer).finally(() => this.#looking.delete(name));
    this.#looking.set(name, looking);
    if (await looking) return !this.#lost.has(name) && isRefusedIn(this.outages, response);
    if (others === undefined) this.#cleared.set(variant, cleared + 1);
    return false;
  }

  /** Checks once more whether lost models are served again. */
  async retryLost(): Promise<void> {
    await Promise.all(
      [...this.#lost.values()].map(({ offer }) => this.#options.send({ ...plain(offer), probe: true })),
    );
  }

  /** Sends plain requests until one is served. @returns whether the model was temporarily not served. */
  async #look(suspect: Response, offer: Offer): Promise<boolean> {
    this.#hasProbed = true;
    for (let refused = 0; refused < MIN_REFUSED; refused++) {
      if (refused > 0) await this.#pause(PAUSES_MS[0]);
      const probe = await this.#probe(suspect, offer);
      if (!refusesModel(probe)) return false;
    }
    const waiting = this.#wait(suspect, offer);
    const settled = waiting.catch(() => undefined);
    this.#waiting.add(settled);
    try {
      await waiting;
    } finally {
      this.#waiting.delete(settled);
    }
    return true;
  }

  async #wait(suspect: Response, offer: Offer): Promise<void> {
    const { nowMs, onWait } = this.#options;
    const startMs = nowMs();
    const maxMs = Math.max(0, Math.min(MAX_OUTAGE_WAIT_MS, MAX_TOTAL_WAIT_MS - this.#unsuccessfulWaitMs));
    if (maxMs > 0) onWait(offer.model, maxMs);
    for (let at = 1; nowMs() - startMs < maxMs; at++) {
      await this.#pause(PAUSES_MS[Math.min(at, PAUSES_MS.length - 1)] ?? 0);
      if ((await this.#probe(suspect, offer)).admitted) return;
    }
    const sinceMs = nowMs();
    this.#unsuccessfulWaitMs += sinceMs - startMs;
    const outage = this.outages.find(({ first }) => first === suspect);
    const why = outage === undefined ? `\`${offer.model}\` is no longer served` : describeOutage(outage);
    this.#lost.set(offerName(offer), { offer, why, sinceMs });
  }

  #probe({ id }: Response, offer: Offer): Promise<Response> {
    return this.#options.send({ ...plain(offer), recoveryOf: id });
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, this.#options.signal);
    this.#options.signal.throwIfAborted();
  }
}

function plain({ endpoint, model }: Offer): RequestSpec {
  return { endpoint, model: { id: model }, mode: "non-streaming", maxTokens: 8, intent: "any", repeats: false };
}
