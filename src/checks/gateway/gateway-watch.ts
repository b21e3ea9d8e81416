import { BudgetReached } from "../../budget/index.ts";
import type { LiveExchange } from "../../http/recorder/index.ts";
import type { Target } from "../../target/index.ts";
import type { RequestSpec } from "../declare/request-spec.ts";
import type { HeldRequest } from "../response/held-request.ts";
import type { Response } from "../response/response.ts";
import type { SendDefaults, Wait } from "../traffic/traffic-options.ts";
import { CircuitBreaker, CircuitOpen } from "./circuit-breaker.ts";
import { describeStop, type GatewayStop, isLostTo, stopIn } from "./gateway-stop.ts";
import { hasNoResponse, Liveness } from "./liveness.ts";
import { Recovery } from "./recovery.ts";

export interface GatewayWatchOptions {
  readonly target: () => Target;
  /** Monotonic, ms. */
  readonly nowMs: () => number;
  /** Aborted when the run is interrupted. */
  readonly signal: AbortSignal;
  /** Sends without waiting for anything. */
  readonly start: (request: RequestSpec, defaults: SendDefaults) => Pick<HeldRequest, "done">;
  /** Everything received so far. */
  readonly responses: () => readonly Response[];
  readonly onStopped: (() => void) | undefined;
  readonly onWait: ((wait: Wait) => void) | undefined;
}

/** Decides from all traffic whether sending more requests is useful. */
export class GatewayWatch implements Disposable {
  readonly #options: GatewayWatchOptions;
  readonly #over = new AbortController();
  /** Aborted when the run is interrupted, and when the gateway has stopped responding. */
  readonly signal: AbortSignal;
  readonly #circuit = new CircuitBreaker();
  readonly #liveness: Liveness;
  /** Waits for a model that was served and is now refused. */
  readonly recovery: Recovery;
  readonly #underWay = new Set<Promise<unknown>>();
  /** How the gateway stopped responding, if it has. */
  stop: GatewayStop | undefined;

  constructor(options: GatewayWatchOptions) {
    this.#options = options;
    this.signal = AbortSignal.any([options.signal, this.#over.signal]);
    this.#liveness = new Liveness({
      nowMs: options.nowMs,
      probe: (round) => this.#probe(round),
      onStopped: () => this.#end(),
    });
    const { nowMs, responses, onWait } = options;
    this.recovery = new Recovery({
      ...{ nowMs, responses, signal: this.signal },
      send: (request) => options.start(request, { endpoint: request.endpoint ?? "chat", mode: "non-streaming" }).done,
      onWait: (model, forMs) => onWait?.({ what: `${model} to be served again`, forMs }),
    });
  }

  /** Why nothing more is sent, if the gateway caused that. */
  get circuitOpen(): string | undefined {
    if (this.stop !== undefined) return describeStop(this.stop);
    return this.#circuit.opened?.message ?? this.recovery.lost;
  }

  /** @throws CircuitOpen if the gateway gave a reason to stop sending. */
  throwIfOver(): void {
    this.signal.throwIfAborted();
    if (this.#circuit.opened !== undefined) throw this.#circuit.opened;
  }

  /**
   * Resolves when it is known whether the gateway responds, and no model is being waited for; immediately if no probe is
   * running.
   */
  async settled(): Promise<void> {
    await this.#liveness.settled;
    await this.recovery.settled;
  }

  started(live: LiveExchange, done: Promise<Response>, { requested }: Pick<Response, "requested">): void {
    this.#liveness.started(live, requested.upstreamFails !== true && requested.probe !== true);
    this.#underWay.add(done);
    const settled = () => this.#underWay.delete(done);
    // The caller handles a rejection.
    done.then(settled, settled);
  }

  /** @param isPlain whether the plain model responded to a plain prompt. */
  ended(live: LiveExchange, response: Response, isPlain: boolean): void {
    this.#liveness.ended(live, response);
    this.#circuit.note(response, isPlain);
  }

  /**
   * Whether some of these requests were lost because the gateway stopped responding. If one got no response, waits until it is
   * known whether the gateway responded to anything afterwards.
   */
  async wereLost(responses: readonly Response[]): Promise<boolean> {
    const lastUs = Math.max(...responses.filter(hasNoResponse).map(({ exchange }) => exchange.timeline.endUs));
    if (Number.isFinite(lastUs)) await this.#liveness.confirm(lastUs / 1_000);
    const { stop } = this;
    return stop !== undefined && responses.some((response) => isLostTo(stop, response));
  }

  /** One round of plain requests that show whether the gateway responds. @returns whether they could be sent. */
  #probe(round: number): boolean {
    const common = { intent: "any", probe: true, freshConnection: true, maxTokens: 8 } as const;
    const target = this.#options.target();
    const [dialect = "chat"] = target.dialects;
    const id = target.models[dialect].plain;
    const plain: RequestSpec[] =
      round === 0 || id === undefined ? [] : [{ ...common, endpoint: dialect, model: { id } }];
    const list: RequestSpec = { ...common, endpoint: "models" };
    try {
      for (const request of [list, ...(plain.length === 0 && round > 0 ? [list] : plain)])
        this.#options.start(request, { endpoint: dialect, mode: "non-streaming" });
      return true;
    } catch (error) {
      if (error instanceof BudgetReached || error instanceof CircuitOpen || this.signal.aborted) return false;
      throw error;
    }
  }

  /** Ends all traffic, because the gateway no longer responds. */
  async #end(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#underWay);
    this.stop = stopIn(this.#options.responses());
    this.#options.onStopped?.();
  }

  [Symbol.dispose](): void {
    this.#liveness[Symbol.dispose]();
  }
}
