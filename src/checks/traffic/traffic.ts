import type { RequestBudget } from "../../budget/index.ts";
import { GauntletError, nonceOf, type Random, seededRandom, sleep, systemClock } from "../../core/index.ts";
import type { Dialect } from "../../dialects/index.ts";
import { type ContinueOutcome, expectContinue, Recorder } from "../../http/recorder/index.ts";
import { addressAt, allKeys, type Key, type Target } from "../../target/index.ts";
import { buildRequest, modelIdOf, type RequestSpec } from "../declare/request-spec.ts";
import { Fixtures } from "../fixtures/fixtures.ts";
import { KeyAcceptance } from "../fixtures/key-acceptance.ts";
import type { Send } from "../fixtures/served-models.ts";
import { GatewayWatch } from "../gateway/gateway-watch.ts";
import { ResponsePacker } from "../response/body-readings.ts";
import { ControlRequests } from "../response/control-requests.ts";
import { type Attempt, type Held, heldRequest } from "../response/held-request.ts";
import { ReadingCache } from "../response/reading-cache.ts";
import { readingRules } from "../response/reading-rules.ts";
import { type ReadingRules, Response } from "../response/response.ts";
import { ScenarioRuns } from "../response/scenario-runs.ts";
import { KeyTurns } from "./key-turns.ts";
import { MIN_REPORTED_WAIT_MS, Pacing } from "./pacing.ts";
import { ReplyTimes } from "./reply-times.ts";
import { accountOf, endpointOf, requestInfoOf, withDefaultKey } from "./request-defaults.ts";
import { SentTraffic } from "./sent-traffic.ts";
import { ServerErrors } from "./server-errors.ts";
import { QUICK_DEADLINE_MS, TimeoutPolicy } from "./timeout-policy.ts";
import type { SendDefaults, TrafficOptions, Wait } from "./traffic-options.ts";

/** Maximum number of repetitions after ambient denials. */
const REPEATS = 2;
/** Maximum number of repetitions after outages. */
const MAX_OUTAGES = 3;

/** Everything that a conformance run sends, in one place: pacing, ambient denials, stale connections, bookkeeping. */
export class Traffic implements AsyncDisposable {
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly rules: ReadingRules;
  readonly responses: Response[] = [];
  readonly recorder: Recorder;
  readonly watch: GatewayWatch;
  readonly scenarios = new ScenarioRuns();
  readonly replyTimes = new ReplyTimes();
  readonly #pacing: Pacing;
  readonly #controls = new ControlRequests(() => this.#monotonicMs());
  readonly serverErrors = new ServerErrors(
    (...request) => this.#throttledOnce(...request),
    (control) => this.watch.recovery.isOver(control),
  );
  readonly #timeouts = new TimeoutPolicy(() => this.target.timeouts);
  readonly #onResponse: ((response: Response) => void) | undefined;
  readonly #packer = new ResponsePacker();
  /** The rules, with a cache of this run. */
  readonly #reading: ReadingRules & { readonly cache: ReadingCache };
  readonly #onWait: ((wait: Wait) => void) | undefined;
  readonly #runTag: string;
  readonly fixtures: Fixtures;
  readonly keys: KeyAcceptance;
  readonly keyTurns: KeyTurns;
  readonly loadFollows: boolean;
  readonly isQuick: boolean;
  readonly budget: RequestBudget;
  readonly sent: SentTraffic;
  #nonces = 0;
  #addressed = 0;

  constructor(options: TrafficOptions) {
    const { target, seed, signal, provisioner, clock = systemClock, loadFollows = false, isQuick = false } = options;
    this.budget = options.budget;
    this.loadFollows = loadFollows;
    this.isQuick = isQuick;
    this.random = seededRandom(seed);
    const nowMs = () => this.#monotonicMs();
    this.watch = new GatewayWatch({
      target: () => this.target,
      nowMs,
      signal,
      start: (request, defaults) => this.start(request, defaults),
      responses: () => this.responses,
      onStopped: options.onStopped,
      onWait: options.onWait,
    });
    this.signal = this.watch.signal;
    const factor = () => this.replyTimes.parallelFactor;
    this.#pacing = new Pacing({
      target: () => this.target,
      nowMs,
      signal: this.signal,
      onWait: options.onWait,
      factor,
    });
    this.#onResponse = options.onResponse;
    this.#onWait = options.onWait;
    this.sent = new SentTraffic({ budget: options.budget, nowMs, inFlightOfLoad: options.inFlightOfLoad ?? (() => 0) });
    this.#runTag = Math.floor(this.random() * 0xffffff)
      .toString(16)
      .padStart(6, "0");
    this.rules = readingRules(target);
    this.#reading = { ...this.rules, cache: new ReadingCache() };
    this.recorder = new Recorder({
      secrets: allKeys(target).map((key) => key.secret()),
      bounds: { deadlineMs: target.timeouts.responseMs, idleMs: target.timeouts.idleMs },
      clock,
    });
    const { redactor } = this.recorder;
    const onKey = (key: Key) => redactor.add(key.secret());
    const send: Send = (request, dialect) => this.send(request, { endpoint: dialect, mode: "non-streaming" });
    const plain = (request: RequestSpec) => this.send(request, { endpoint: "chat", mode: "non-streaming" });
    this.keys = new KeyAcceptance(plain, () => this.target);
    this.keyTurns = new KeyTurns(() => this.target, this.keys);
    const start = (one: RequestSpec, endpoint: Dialect) => this.start(one, { endpoint, mode: "non-streaming" });
    const trial = { start, nonce: () => this.nonce() };
    this.fixtures = new Fixtures({ target, provisioner, signal, onKey, send, trial, keys: this.keys });
    this.signal.addEventListener("abort", () => this.recorder.abortAll(), { once: true });
  }

  get target(): Target {
    return this.fixtures.target;
  }

  /** Selects from the gateway's list the models that the target file does not name. */
  async fillModels(listed: readonly string[]): Promise<void> {
    await this.fixtures.fillModels(listed, `gauntlet-no-such-model-${this.#runTag}`);
  }

  /** Starts another round of the same checks: resets scenarios, control requests and the traffic that invariants judge. */
  nextRound(): void {
    this.scenarios.clear();
    this.#controls.clear();
    this.responses.length = 0;
    this.#timeouts.forget();
    this.serverErrors.forget();
  }

  /** A text that occurs in no other prompt of any run. */
  nonce(): string {
    return nonceOf(this.#runTag, (++this.#nonces).toString(36));
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
    for (let times = 0; times < MAX_OUTAGES && (await this.watch.recovery.isOver(response)); times++) {
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
      return await this.#held(request, defaults, repeats).done;
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
      const request = { endpoint: dialect, intent: "either", maxTokens: 8 } as const;
      await this.send(request, { endpoint: dialect, mode: "non-streaming" }).catch(goOn);
    }
  }

  /** Sends immediately, regardless of the pace; for checks that hold requests open or measure limits. */
  start(request: RequestSpec, defaults: SendDefaults): Held {
    // Later paced requests account for it.
    if (defaults.reaches === undefined) this.#pacing.throttleOf(accountOf(request)).count();
    return this.#held(request, defaults, undefined);
  }

  #held(given: RequestSpec, defaults: SendDefaults, repeats: string | undefined): Held {
    // Chosen before the first attempt: a stale connection must not send the repetition to another replica.
    const request = { ...given, address: given.address ?? addressAt(this.target, this.#addressed++) };
    return heldRequest(this.#startOnce(request, defaults, repeats), (stale) =>
      this.#startOnce({ ...request, freshConnection: true }, defaults, stale.id),
    );
  }

  #startOnce(given: RequestSpec, defaults: SendDefaults, repeats: string | undefined): Attempt {
    const request = withDefaultKey(given, defaults);
    this.watch.throwIfOver();
    const endpoint = endpointOf(request, defaults, this.target);
    const mode = request.mode ?? defaults.mode;
    const model = modelIdOf(this.target, request, endpoint);
    const intent = request.intent ?? "good";
    if (model !== undefined && request.recoveryOf === undefined && request.probe !== true)
      this.watch.recovery.throwIfLost({ endpoint, model }, intent);
    const nonce = this.nonce();
    const prompt = request.prompt ?? `Please repeat: ${nonce}`;
    const { keyName, ...built } = buildRequest(this.target, { ...request, mode }, endpoint, prompt);
    this.sent.spend(defaults.share);
    const account = accountOf(request);
    this.sent.started(account);
    const requested = requestInfoOf(request, { endpoint, mode, intent, account, nonce, repeats }, this.target);
    const isPlain =
      model !== undefined && model === modelIdOf(this.target, {}, endpoint) && requested.nonce !== undefined;
    const kind = TimeoutPolicy.kindOf(requested, request.model);
    const live = this.recorder.start(
      { ...built, key: keyName },
      {
        bounds: this.#timeouts.boundsFor(kind, requested, request.bounds),
        freshConnection: request.freshConnection ?? false,
      },
    );
    const done = live.done.then((exchange) => {
      this.sent.ended();
      const response = new Response(exchange, requested, this.#reading);
      this.responses.push(response);
      this.watch.ended(live, response, isPlain);
      if (isPlain) this.replyTimes.note(response);
      if (response.admitted) this.watch.recovery.noteServed(response);
      this.sent.count(response);
      this.#onResponse?.(response);
      // Packed immediately: objects that live for some seconds are the worst case for a garbage collector.
      const { isHeld } = response.pack(this.#packer);
      this.#timeouts.note(kind, exchange, isHeld);
      return response;
    });
    this.watch.started(live, done, { requested });
    return { live, done };
  }

  /** Sends a valid request that waits for `100 Continue` before its body. */
  async expectContinue(request: RequestSpec, defaults: SendDefaults): Promise<ContinueOutcome> {
    const { mode, share, by } = defaults;
    const address = request.address ?? addressAt(this.target, this.#addressed++);
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

  /** Time base of the exchanges, ms. */
  #monotonicMs(): number {
    return this.recorder.nowUs() / 1_000;
  }
}
