import type { RequestSpec } from "./request-spec.ts";
import { variantOf } from "./request-variant.ts";
import type { Response } from "./response.ts";
import type { SendDefaults } from "./traffic-options.ts";

type Send = (request: RequestSpec, defaults: SendDefaults, repeats?: string) => Promise<Response>;

/** Models whose provider fails on purpose. */
const FAILING: readonly unknown[] = ["upstreamError", "upstreamTimeout", "cutStream"];

/** Whether a request is one for which a provider fails on purpose. */
export function failsUpstream({ model, upstreamFails }: RequestSpec): boolean {
  return upstreamFails ?? FAILING.includes(model);
}

/**
 * Repeats what was answered with a 5xx, once per variant of a request. Checks judge the first answer, as clients see it; the others show
 * whether it was the request or the moment, for whoever judges the run as a whole. Before them a valid request shows that the gateway
 * serves.
 */
export class ServerErrors {
  readonly #seen = new Set<string>();
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Begins anew, as for another round of the same checks. */
  forget(): void {
    this.#seen.clear();
  }

  async confirm(answer: Response, request: RequestSpec, defaults: SendDefaults): Promise<void> {
    // A model that only its id is known of may be broken for reasons of its own.
    if ((answer.status ?? 0) < 500 || failsUpstream(request) || typeof request.model === "object") return;
    const variant = variantOf(answer.exchange);
    if (this.#seen.has(variant)) return;
    this.#seen.add(variant);
    const { endpoint, model } = request;
    const control: RequestSpec = {
      ...(endpoint === undefined || endpoint === "models" ? {} : { endpoint }),
      ...(model === undefined ? {} : { model }),
      mode: "non-streaming",
      intent: "either",
      repeats: false,
    };
    if (!(await this.#send(control, defaults)).admitted) return;
    const again = () => this.#send(request, defaults, answer.id);
    if ((await again()).status === answer.status) await again();
  }
}
