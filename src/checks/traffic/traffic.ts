import type { RequestBudget } from "../../budget/index.ts";
import { GauntletError, nonceOf, type Random, seededRandom, sleep, systemClock } from "../../core/index.ts";
import { type ContinueOutcome, expectContinue, Recorder } from "../../http/recorder/index.ts";
import { addressAt, allKeys, type Target } from "../../target/index.ts";
import { buildRequest, type RequestSpec } from "../declare/request-spec.ts";
import type { RunKind } from "../declare/schedule.ts";
import { Fixtures } from "../fixtures/fixtures.ts";
import { GatewayWatch } from "../gateway/gateway-watch.ts";
import { ControlRequests } from "../response/control-requests.ts";
import type { HeldRequest } from "../response/held-request.ts";
import type { Response } from "../response/response.ts";
import { ScenarioRuns } from "../response/scenario-runs.ts";
import { Exchanges } from "./exchanges.ts";
import { MIN_REPORTED_WAIT_MS, Pacing } from "./pacing.ts";
import type { ReplyTimes } from "./reply-times.ts";
import { accountOf, endpointOf, withDefaultKey } from "./request-defaults.ts";
import { SentTraffic } from "./sent-traffic.ts";
import { ServerErrors } from "./server-errors.ts";
import { QUICK_DEADLINE_MS } from "./timeout-policy.ts";
import type { SendDefaults, TrafficOptions, Wait } from "./traffic-options.ts";

/** Maximum number of repetitions after ambient denials. */
const REPEATS = 2;
/** Maximum number of repetitions after outages. */
const MAX_OUTAGES = 3;

/** The parts that the checks of a run share, and how they send: below the limits, and again after ambient denials and outages. */
export class Traffic implements AsyncDisposable {
  readonly run: RunKind;
  /** Wall clock, Unix epoch milliseconds. */
  readonly startedAtMs: number;
  readonly budget: RequestBudget;
  readonly random: Random;
  /** A text that occurs in no other prompt of any run. */
  readonly nonce: () => string;
  readonly signal: AbortSignal;
  readonly recorder: Recorder;
  readonly sent: SentTraffic;
  readonly responses: readonly Response[];
  readonly replyTimes: ReplyTimes;
  readonly fixtures: Fixtures;
  readonly watch: GatewayWatch;
  readonly scenarios = new ScenarioRuns();
  readonly serverErrors = new ServerErrors(
    (...request) => this.#throttledOnce(...request),
    (control) => this.watch.recovery.waitOutOutage(control),
  );
  readonly #exchanges: Exchanges;
  readonly #pacing: Pacing;
  readonly #controls: ControlRequests;
  readonly #onWait: ((wait: Wait) => void) | undefined;
  readonly #runTag: string;
  #addressed = 0;

  constructor(options: TrafficOptions) {
    const { target: given, budget, seed, provisioner, clock = systemClock, onResponse, onStopped, onWait } = options;
    const { includesLoad = false, isQuick = false, inFlightOfLoad = () => 0 } = options;
    this.run = { includesLoad, isQuick };
    this.startedAtMs = clock.nowMs();
    this.budget = budget;
    this.random = seededRandom(seed);
    this.#runTag = Math.floor(this.random() * 0xffffff)
      .toString(16)
      .padStart(6, "0");
    let nonces = 0;
    this.nonce = () => nonceOf(this.#runTag, (++nonces).toString(36));
    this.recorder = new Recorder({
      secrets: allKeys(given).map((key) => key.secret()),
      bounds: { deadlineMs: given.timeouts.responseMs, idleMs: given.timeouts.idleMs },
      clock,
    });
    const { recorder, nonce } = this;
    const nowMs = () => recorder.nowUs() / 1_000;
    const target = () => this.target;
    this.#onWait = onWait;
    this.#controls = new ControlRequests(nowMs);
    this.sent = new SentTraffic({ budget, nowMs, inFlightOfLoad });
    this.fixtures = new Fixtures({
      target: given,
      provisioner,
      signal: options.signal,
      onKey: (key) => recorder.redactor.add(key.secret()),
      send: (request, endpoint) => this.send(request, { endpoint, mode: "non-streaming" }),
      trial: { start: (request, endpoint) => this.start(request, { endpoint, mode: "non-streaming" }), nonce },
    });
    this.watch = new GatewayWatch({
      ...{ target, nowMs, onStopped, onWait, signal: options.signal },
      start: (request, defaults) => this.start(request, defaults),
      responses: () => this.responses,
    });
    const { watch, sent } = this;
    this.signal = watch.signal;
    this.signal.addEventListener("abort", () => recorder.abortAll(), { once: true });
    const nextAddress = () => this.#nextAddress();
    this.#exchanges = new Exchanges({ recorder, watch, sent, target, nonce, onResponse, nextAddress });
    this.responses = this.#exchanges.responses;
    this.replyTimes = this.#exchanges.replyTimes;
    const factor = () => this.replyTimes.parallelFactor;
    this.#pacing = new Pacing({ target, nowMs, signal: this.signal, onWait, factor });
  }

  get target(): Target {
    return this.fixtures.target;
  }

  #nextAddress(): string {
    return addressAt(this.target, this.#addressed++);
  }

  /** Selects from the gateway's list the models that the target file does not name. */
  async fillModels(listed: readonly string[]): Promise<void> {
    await this.fixtures.fillModels(listed, `gauntlet-no-such-model-${this.#runTag}`);
  }

  /** Starts another round of the same checks: resets scenarios, control requests and the traffic that invariants judge. */
  nextRound(): void {
    this.scenarios.clear();
    this.#controls.clear();
    this.#exchanges.forget();
    this.serverErrors.forget();
  }

  /** The control request of a negative probe: a valid request, or the result of the same one within the last seconds. */
  control(request: RequestSpec, defaults: SendDefaults): Promise<Response> {
    const { share: _, by: _by, ...common } = defaults;
    return this.#controls.get(JSON.stringify([request, common]), () => this.send(request, defaults));
  }

  /** Waits below the account's limits, sends, and repeats the request after an ambient denial. */
  async send(given: RequestSpec, defaults: SendDefaults): Promise<Response> {
    const request = withDefaultKey(given, defaults);
    let response = await this.#throttledOnce(request, defaults);
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      if (request.repeats === false || !this.#pacing.slowDownFor(response)) break;
      response = await this.#throttledOnce(request, defaults, response.id);
    }
    for (let times = 0; times < MAX_OUTAGES && (await this.watch.recovery.waitOutOutage(response)); times++) {
      response = await this.#throttledOnce(request, defaults, response.id);
    }
    this.#pacing.noteFinal(response);
    await this.serverErrors.confirm(response, request, defaults);
    return response;
  }

  async #throttledOnce(request: RequestSpec, defaults: SendDefaults, repeats?: string): Promise<Response> {
    await this.watch.settled();
    const throttle = await this.#pacing.enter(accountOf(request), defaults.by);
    try {
      return await this.#exchanges.start(request, defaults, repeats).done;
    } finally {
      throttle.leave();
    }
  }

  /** Waits until the plain models are served again, after checks that made providers fail. */
  async recovered(): Promise<void> {
    if (!this.responses.some(({ requested }) => requested.upstreamFails === true)) return;
    const goOn = (error: unknown) => {
      // The checks that follow report it.
      if (!(error instanceof GauntletError) && !this.signal.aborted) throw error;
    };
    await this.watch.recovery.retryLost().catch(goOn);
    for (const dialect of this.target.dialects) {
      const request = { endpoint: dialect, intent: "any", maxTokens: 8 } as const;
      await this.send(request, { endpoint: dialect, mode: "non-streaming" }).catch(goOn);
    }
  }

  /** Sends immediately, regardless of the pace; for checks that hold requests open or measure limits. */
  start(request: RequestSpec, defaults: SendDefaults): HeldRequest {
    // Later paced requests account for it.
    if (defaults.reaches === undefined) this.#pacing.throttleOf(accountOf(request)).count();
    return this.#exchanges.start(request, defaults);
  }

  /** Sends a valid request that waits for `100 Continue` before its body. */
  async expectContinue(request: RequestSpec, defaults: SendDefaults): Promise<ContinueOutcome> {
    const { mode, share, by } = defaults;
    const address = request.address ?? this.#nextAddress();
    const endpoint = endpointOf(request, defaults, this.target);
    const throttle = await this.#pacing.enter(accountOf(request), by);
    try {
      const { keyName: _, ...built } = buildRequest(this.target, { ...request, mode, address }, endpoint, "ping");
      this.sent.spend(share);
      return await expectContinue(built, QUICK_DEADLINE_MS);
    } finally {
      throttle.leave();
    }
  }

  /** @param wait what is waited for, and which check is delayed. */
  async wait(ms: number, { what, by }: Omit<Wait, "forMs">): Promise<void> {
    if (ms >= MIN_REPORTED_WAIT_MS) this.#onWait?.({ what, by, forMs: ms });
    await sleep(ms, this.signal);
    this.signal.throwIfAborted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.watch[Symbol.dispose]();
    await this.recorder[Symbol.asyncDispose]();
  }
}
