import type { ModelRole, Target } from "../../target/index.ts";
import { FAILING_MODELS } from "../declare/need.ts";
import type { RequestSpec } from "../declare/request-spec.ts";
import { variantOf } from "../declare/request-variant.ts";
import type { Response } from "../response/response.ts";
import type { SendDefaults } from "./traffic-options.ts";

type Send = (request: RequestSpec, defaults: SendDefaults, repeats?: string) => Promise<Response>;

/**
 * Whether the provider fails on purpose for a request.
 *
 * @param models those of the target file: a request may name a failing model by its id.
 */
export function failsUpstream({ model, upstreamFails }: RequestSpec, models?: Target["models"]): boolean {
  if (upstreamFails !== undefined) return upstreamFails;
  const id = typeof model === "object" && model !== null ? model.id : undefined;
  const isNamed = (role: ModelRole) => Object.values(models ?? {}).some((roles) => roles[role] === id);
  return FAILING_MODELS.some((role) => role === model || (id !== undefined && isNamed(role)));
}

/** After this many checks failed again when they were repeated, a 5xx no longer counts as a stray. */
const MAX_REPEATED_FAILURES = 8;

/**
 * Repeats requests that got a 5xx, once per variant. Checks judge the first response, as a client sees it. The repetitions show
 * the invariants of the run whether the request or the moment caused the 5xx. A valid request is sent first, to show that the
 * gateway serves.
 *
 * A check that was decided by a stray 5xx is run again, and its second result counts.
 */
export class ServerErrors {
  /** Variants that have been repeated, or are being repeated. */
  readonly #seen = new Map<string, Promise<void>>();
  /** Variants that got a 5xx again. */
  readonly #persistent = new Set<string>();
  #repeatedFailures = 0;
  readonly #send: Send;
  readonly #isOutage: (control: Response) => Promise<boolean>;

  /** @param isOutage whether a plain request was refused because its model was temporarily not served; waits until that ends. */
  constructor(send: Send, isOutage: (control: Response) => Promise<boolean>) {
    this.#send = send;
    this.#isOutage = isOutage;
  }

  /** Resets, for another round of the same checks. */
  forget(): void {
    this.#seen.clear();
    this.#persistent.clear();
    this.#repeatedFailures = 0;
  }

  /** Valid requests whose 5xx may be a stray: those that did not get it again. Requests that may be refused can be valid, too. */
  straysIn(responses: readonly Response[]): Response[] {
    if (this.#repeatedFailures >= MAX_REPEATED_FAILURES) return [];
    return responses.filter(
      ({ status = 0, requested, exchange }) =>
        status >= 500 &&
        (requested.intent === "valid" || requested.intent === "any") &&
        requested.upstreamFails !== true &&
        !this.#persistent.has(variantOf(exchange)),
    );
  }

  /** Records the result of a repeated check. */
  repeated(hasFailedAgain: boolean): void {
    if (hasFailedAgain) this.#repeatedFailures++;
  }

  async confirm(response: Response, request: RequestSpec, defaults: SendDefaults): Promise<void> {
    // A model that a check names by its id may be broken for other reasons.
    if ((response.status ?? 0) < 500 || failsUpstream(request) || typeof request.model === "object") return;
    const variant = variantOf(response.exchange);
    const repeating = this.#seen.get(variant) ?? this.#repeat(response, request, defaults);
    this.#seen.set(variant, repeating);
    // Also if another request started it: the result holds for all of them.
    await repeating;
  }

  async #repeat(response: Response, request: RequestSpec, defaults: SendDefaults): Promise<void> {
    const variant = variantOf(response.exchange);
    const { endpoint, model } = request;
    const control: RequestSpec = {
      ...(endpoint === undefined || endpoint === "models" ? {} : { endpoint }),
      ...(model === undefined ? {} : { model }),
      mode: "non-streaming",
      intent: "any",
      repeats: false,
    };
    const plain = await this.#send(control, defaults);
    if (!plain.admitted) {
      // The control request was refused as well, so nothing is known about this variant. If its model was temporarily not
      // served, the variant may be repeated once more.
      if (await this.#isOutage(plain)) this.#seen.delete(variant);
      return;
    }
    const again = () => this.#send(request, defaults, response.id);
    if ((await again()).status !== response.status) return;
    this.#persistent.add(variant);
    await again();
  }
}
