import type { Recorder } from "../../http/recorder/index.ts";
import type { Target } from "../../target/index.ts";
import { buildRequest, modelIdOf, type RequestSpec } from "../declare/request-spec.ts";
import type { GatewayWatch } from "../gateway/gateway-watch.ts";
import { ResponsePacker } from "../response/body-readings.ts";
import { type Attempt, type HeldRequest, heldRequest } from "../response/held-request.ts";
import { ReadingCache } from "../response/reading-cache.ts";
import { readingRules } from "../response/reading-rules.ts";
import { Response } from "../response/response.ts";
import { ReplyTimes } from "./reply-times.ts";
import { accountOf, endpointOf, requestInfoOf, withDefaultKey } from "./request-defaults.ts";
import type { SentTraffic } from "./sent-traffic.ts";
import { TimeoutPolicy } from "./timeout-policy.ts";
import type { SendDefaults } from "./traffic-options.ts";

interface ExchangesOptions {
  readonly recorder: Recorder;
  readonly watch: GatewayWatch;
  readonly sent: SentTraffic;
  readonly target: () => Target;
  /** The address for the next request, if the gateway has several. */
  readonly nextAddress: () => string;
  /** A text that occurs in no other prompt. */
  readonly nonce: () => string;
  readonly onResponse: ((response: Response) => void) | undefined;
}

/** Starts the exchanges of a conformance run, within bounds of time and size, and collects the responses. */
export class Exchanges {
  readonly responses: Response[] = [];
  readonly replyTimes = new ReplyTimes();
  readonly #options: ExchangesOptions;
  readonly #timeouts: TimeoutPolicy;
  readonly #packer = new ResponsePacker();
  /** With a cache of this run. */
  readonly #reading: ReturnType<typeof readingRules> & { readonly cache: ReadingCache };

  constructor(options: ExchangesOptions) {
    this.#options = options;
    this.#timeouts = new TimeoutPolicy(() => options.target().timeouts);
    this.#reading = { ...readingRules(options.target()), cache: new ReadingCache() };
  }

  /** Releases the responses, before another round of the same checks. */
  forget(): void {
    this.responses.length = 0;
    this.#timeouts.forget();
  }

  /** Sends immediately. A request on a stale connection is sent again. @param repeats id of the response that it repeats. */
  start(given: RequestSpec, defaults: SendDefaults, repeats?: string): HeldRequest {
    // Chosen before the first attempt: a stale connection must not send the repetition to another replica.
    const request = { ...given, address: given.address ?? this.#options.nextAddress() };
    return heldRequest(this.#startOnce(request, defaults, repeats), (stale) =>
      this.#startOnce({ ...request, freshConnection: true }, defaults, stale.id),
    );
  }

  #startOnce(given: RequestSpec, defaults: SendDefaults, repeats: string | undefined): Attempt {
    const { recorder, watch, sent } = this.#options;
    const target = this.#options.target();
    const request = withDefaultKey(given, defaults);
    watch.throwIfOver();
    const endpoint = endpointOf(request, defaults, target);
    const mode = request.mode ?? defaults.mode;
    const model = modelIdOf(target, request, endpoint);
    const intent = request.intent ?? "valid";
    if (model !== undefined && request.recoveryOf === undefined && request.probe !== true)
      watch.recovery.throwIfLost({ endpoint, model }, intent);
    const nonce = this.#options.nonce();
    const prompt = request.prompt ?? `Please repeat: ${nonce}`;
    const { keyName, ...built } = buildRequest(target, { ...request, mode }, endpoint, prompt);
    sent.spend(defaults.share);
    const account = accountOf(request);
    sent.started(account);
    const requested = requestInfoOf(request, { endpoint, mode, intent, account, nonce, repeats }, target);
    const isPlain = model !== undefined && model === modelIdOf(target, {}, endpoint) && requested.nonce !== undefined;
    const kind = TimeoutPolicy.kindOf(requested, request.model);
    const live = recorder.start(
      { ...built, key: keyName },
      {
        bounds: this.#timeouts.boundsFor(kind, requested, request.bounds),
        freshConnection: request.freshConnection ?? false,
      },
    );
    const done = live.done.then((exchange) => {
      sent.ended();
      const response = new Response(exchange, requested, this.#reading);
      this.responses.push(response);
      watch.ended(live, response, isPlain);
      if (isPlain) this.replyTimes.note(response);
      if (response.admitted) watch.recovery.noteServed(response);
      sent.count(response);
      this.#options.onResponse?.(response);
      // Packed immediately: objects that live for some seconds are the worst case for a garbage collector.
      const { isHeld } = response.pack(this.#packer);
      this.#timeouts.note(kind, exchange, isHeld);
      return response;
    });
    watch.started(live, done, { requested });
    return { live, done };
  }
}
