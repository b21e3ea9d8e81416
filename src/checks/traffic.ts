import { BudgetReached, type RequestBudget } from "../budget/index.ts";
import { nonceOf, type Random, seededRandom, sleep, systemClock } from "../core/index.ts";
import { type ContinueOutcome, ExchangePacker, expectContinue, Recorder } from "../http-recorder/index.ts";
import { type Account, allKeys, type Key, keysOf, type Target } from "../target/index.ts";
import { limitsOfAccount } from "./account-of-key.ts";
import { CircuitBreaker, CircuitOpen } from "./circuit-breaker.ts";
import { ControlRequests } from "./control-requests.ts";
import { Fixtures } from "./fixtures.ts";
import { type GatewayStop, isLostTo, stopIn, stopInWords } from "./gateway-stop.ts";
import { type Attempt, type Held, heldRequest } from "./held-request.ts";
import { KeyAcceptance } from "./key-acceptance.ts";
import { isUnanswered, Liveness } from "./liveness.ts";
import { outputTokensOf } from "./output-tokens.ts";
import { readingRules } from "./reading-rules.ts";
import { answersIn, type Recordable } from "./recording.ts";
import { accountOf, endpointOf, withDefaultKey } from "./request-defaults.ts";
import { buildRequest, type RequestSpec } from "./request-spec.ts";
import { type Asked, type ReadingRules, Response } from "./response.ts";
import type { Send } from "./served-models.ts";
import { failsUpstream, ServerErrors } from "./server-errors.ts";
import { Throttle } from "./throttle.ts";
import { QUICK_DEADLINE_MS, TimeoutPolicy } from "./timeout-policy.ts";
import type { SendDefaults, TrafficOptions, Wait } from "./traffic-options.ts";
import { isUndeclaredLimit } from "./undeclared-limit.ts";

/** An ambient denial is waited out at most this long; a longer Retry-After ends the attempt. */
const LONGEST_AMBIENT_WAIT_MS = 65_000;
/** Times that a request which met an ambient denial is sent again. */
const REPEATS = 2;
/**
 * Where a denial was expected, and one for a limit still came after its wait, the gateway means it: from then on only what is soon
 * done is waited out.
 */
const SHORT_AMBIENT_WAIT_MS = 8_000;
/** A rate at which a whole run does not have to wait for its own traffic. */
const AMPLE_RPM = 1_000;
/** Shorter waits are over before anybody has read of them. */
const TOLD_MS = 2_000;

interface SentTraffic {
  requests: number;
  /** Served inference requests, which may have been billed. */
  charged: number;
  /** As counted by the gateway, otherwise estimated. */
  outputTokens: number;
}

/** Everything that a conformance run sends, in one place: pacing, ambient denials, stale connections, bookkeeping. */
export class Traffic implements AsyncDisposable {
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly rules: ReadingRules;
  readonly answers: Response[] = [];
  readonly recorder: Recorder;
  readonly #throttles = new Map<string, Throttle>();
  #inFlight = 0;
  readonly #controls = new ControlRequests(() => this.#monotonicMs());
  readonly #circuit = new CircuitBreaker();
  readonly serverErrors = new ServerErrors((...request) => this.#throttledOnce(...request));
  readonly #over = new AbortController();
  readonly #liveness: Liveness;
  readonly #underWay = new Set<Promise<unknown>>();
  /** How the gateway stopped responding, if it has. */
  stop: GatewayStop | undefined;
  readonly #timeouts = new TimeoutPolicy(() => this.target.timeouts);
  readonly #onAnswer: ((answer: Response) => void) | undefined;
  readonly #packer = new ExchangePacker();
  readonly #onWait: ((wait: Wait) => void) | undefined;
  readonly #inFlightOfLoad: () => number;
  readonly #runTag: string;
  readonly #scenarios = new Map<string, Promise<unknown>>();
  readonly fixtures: Fixtures;
  readonly keys: KeyAcceptance;
  readonly loadFollows: boolean;
  readonly isQuick: boolean;
  readonly budget: RequestBudget;
  /** What this instance has sent. The budget may cover more. */
  readonly sent: SentTraffic = { requests: 0, charged: 0, outputTokens: 0 };
  readonly #lastUsedMs = new Map<string, number>();
  /** Whether a request that was to be denied otherwise was denied for a limit even after it had waited as it was told. */
  #hasWaitedInVain = false;
  #nonces = 0;
  #turns = 0;

  constructor(options: TrafficOptions) {
    const { target, seed, signal, provisioner, clock = systemClock, loadFollows = false, isQuick = false } = options;
    this.budget = options.budget;
    this.loadFollows = loadFollows;
    this.isQuick = isQuick;
    this.random = seededRandom(seed);
    this.signal = AbortSignal.any([signal, this.#over.signal]);
    this.#liveness = new Liveness({
      nowMs: () => this.#monotonicMs(),
      probe: (round) => this.#probe(round),
      onStopped: () => this.#end(options.onStopped),
    });
    this.#onAnswer = options.onAnswer;
    this.#onWait = options.onWait;
    this.#inFlightOfLoad = options.inFlightOfLoad ?? (() => 0);
    this.#runTag = Math.floor(this.random() * 0xffffff)
      .toString(16)
      .padStart(6, "0");
    this.rules = readingRules(target);
    this.recorder = new Recorder({
      secrets: allKeys(target).map((key) => key.secret()),
      bounds: { deadlineMs: target.timeouts.answerMs, idleMs: target.timeouts.idleMs },
      clock,
    });
    const { redactor } = this.recorder;
    const onKey = (key: Key) => redactor.add(key.secret());
    const send: Send = (request, dialect) => this.send(request, { endpoint: dialect, mode: "non-streaming" });
    const plain = (request: RequestSpec) => this.send(request, { endpoint: "chat", mode: "non-streaming" });
    this.keys = new KeyAcceptance(plain, () => this.target);
    this.fixtures = new Fixtures({ target, provisioner, signal, onKey, send, keys: this.keys });
    this.signal.addEventListener("abort", () => this.recorder.abortAll(), { once: true });
  }

  get target(): Target {
    return this.fixtures.target;
  }

  /** Names the models that the target file does not, by the gateway's list. */
  async fillModels(listed: readonly string[]): Promise<void> {
    await this.fixtures.fillModels(listed, `gauntlet-no-such-model-${this.#runTag}`);
  }

  /** For how long nothing has been sent on an account, in earlier rounds too, ms; infinite when nothing was. */
  unusedForMs(account: string): number {
    return this.#monotonicMs() - (this.#lastUsedMs.get(account) ?? Number.NEGATIVE_INFINITY);
  }

  /** Requests under way, on all accounts, those of load included. */
  get inFlight(): number {
    return this.#inFlight + this.#inFlightOfLoad();
  }

  /** Begins another round over the same checks: scenarios, control requests and what invariants look at start anew. */
  nextRound(): void {
    this.#scenarios.clear();
    this.#controls.clear();
    this.answers.length = 0;
    this.#timeouts.forget();
    this.serverErrors.forget();
  }

  /** Why nothing more is sent, if the gateway gave cause for it. */
  get circuitOpen(): string | undefined {
    return this.stop === undefined ? this.#circuit.opened?.message : stopInWords(this.stop);
  }

  /**
   * Whether some of these requests were lost because the gateway stopped responding. If one got no response, waits until it is known
   * whether the gateway responded to something afterwards.
   */
  async wereLost(responses: readonly Response[]): Promise<boolean> {
    const lastUs = Math.max(...responses.filter(isUnanswered).map(({ exchange }) => exchange.timeline.endUs));
    if (Number.isFinite(lastUs)) await this.#liveness.confirm(lastUs / 1_000);
    const { stop } = this;
    return stop !== undefined && responses.some((response) => isLostTo(stop, response));
  }

  /** One round of plain requests that show whether the gateway responds. @returns whether they could be sent. */
  #probe(round: number): boolean {
    const common = { intent: "either", probe: true, freshConnection: true, maxTokens: 8 } as const;
    const [dialect = "chat"] = this.target.dialects;
    const id = this.target.models[dialect].plain;
    const plain: RequestSpec[] =
      round === 0 || id === undefined ? [] : [{ ...common, endpoint: dialect, model: { id } }];
    const list: RequestSpec = { ...common, endpoint: "models" };
    try {
      for (const request of [list, ...(plain.length === 0 && round > 0 ? [list] : plain)])
        this.#startOnce(request, { endpoint: dialect, mode: "non-streaming" }, undefined);
      return true;
    } catch (error) {
      if (error instanceof BudgetReached || error instanceof CircuitOpen || this.signal.aborted) return false;
      throw error;
    }
  }

  /** Ends all traffic, because the gateway no longer responds. */
  async #end(onStopped: (() => void) | undefined): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#underWay);
    this.stop = stopIn(this.answers);
    onStopped?.();
  }

  /** Resolves when it is known whether the gateway responds; immediately if no probe is running. */
  get settled(): Promise<void> {
    return this.#liveness.settled;
  }

  /** A text that stands in no other prompt of any run. */
  nonce(): string {
    return nonceOf(this.#runTag, (++this.#nonces).toString(36));
  }

  /** The control request of a negative probe: a valid request as others of the last seconds were. */
  control(request: RequestSpec, defaults: SendDefaults): Promise<Response> {
    const { share: _, by: _by, ...common } = defaults;
    return this.#controls.get(JSON.stringify([request, common]), () => this.send(request, defaults));
  }

  /**
   * The key for checks that any funded key can show: that of `valid`, or of a tier's account when the rate of `valid` is
   * so low that it would hold up the run for minutes. Keys of one account take turns. A key that the gateway rejects has none.
   */
  async nextKey(): Promise<Key> {
    const { keys, limits, tiers } = this.target;
    const wide = Object.values(tiers)
      .filter((account) => account.limits.rpm >= AMPLE_RPM)
      .sort((a, b) => b.limits.rpm - a.limits.rpm)[0];
    const own = { key: keys.valid, second: keys.second };
    const isOwn = (limits?.rpm ?? 0) >= AMPLE_RPM || wide === undefined || (await this.#isRejected(wide));
    const { key, second } = isOwn ? own : wide;
    // The two keys of an account take turns: a defect may lie with one of them.
    return this.#turns++ % 2 === 1 && second !== undefined ? second : key;
  }

  /** Whether the gateway rejects a key of an account. */
  async #isRejected(account: Account): Promise<boolean> {
    if (this.target.source === "embedded") return false;
    const rejections = await Promise.all(keysOf(account).map((key) => this.keys.rejection(key)));
    return rejections.some((rejection) => rejection !== undefined);
  }

  /** Waits below the account's limits, sends, and repeats what an ambient denial stopped. */
  async send(given: RequestSpec, defaults: SendDefaults): Promise<Response> {
    const request = withDefaultKey(given, defaults);
    let answer = await this.#throttledOnce(request, defaults);
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      const throttle = this.#throttleOf(answer.asked.account);
      const waitMs = request.repeats === false || throttle.hopeless ? undefined : this.#ambientWaitMs(answer);
      if (waitMs === undefined) break;
      throttle.slowDown(answer.reason ?? "rate_limit_exceeded", waitMs, answer.exchange.timeline.dueUs / 1_000);
      answer = await this.#throttledOnce(request, defaults, answer.id);
    }
    if (answer.admitted) this.#throttleOf(answer.asked.account).admitted();
    await this.serverErrors.confirm(answer, request, defaults);
    const { intent, repeats } = answer.asked;
    if (intent === "denied" && repeats !== undefined && this.#ambientWaitMs(answer) !== undefined)
      this.#hasWaitedInVain = true;
    return answer;
  }

  async #throttledOnce(request: RequestSpec, defaults: SendDefaults, repeats?: string): Promise<Response> {
    await this.#liveness.settled;
    const throttle = await this.#enter(accountOf(request), defaults.by);
    try {
      return await this.#held(request, defaults, repeats).done;
    } finally {
      throttle.leave();
    }
  }

  /** Sends at once, whatever the pace; for checks that hold requests open or measure limits. */
  start(request: RequestSpec, defaults: SendDefaults): Held {
    // Later paced requests leave room for it.
    if (defaults.reaches === undefined) this.#throttleOf(accountOf(request)).count();
    return this.#held(request, defaults, undefined);
  }

  #held(request: RequestSpec, defaults: SendDefaults, repeats: string | undefined): Held {
    return heldRequest(this.#startOnce(request, defaults, repeats), (stale) =>
      this.#startOnce({ ...request, freshConnection: true }, defaults, stale.id),
    );
  }

  #startOnce(given: RequestSpec, defaults: SendDefaults, repeats: string | undefined): Attempt {
    const request = withDefaultKey(given, defaults);
    this.signal.throwIfAborted();
    if (this.#circuit.opened !== undefined) throw this.#circuit.opened;
    const endpoint = endpointOf(request, defaults, this.target);
    const mode = request.mode ?? defaults.mode;
    const nonce = this.nonce();
    const prompt = request.prompt ?? `Please repeat: ${nonce}`;
    const { keyName, ...built } = buildRequest(this.target, { ...request, mode }, endpoint, prompt);
    this.budget.start(defaults.share);
    this.sent.requests++;
    const account = accountOf(request);
    this.#lastUsedMs.set(account, this.#monotonicMs());
    this.#inFlight++;
    const intent = request.intent ?? "good";
    const rpm = account === "none" ? undefined : limitsOfAccount(this.target, account)?.rpm;
    const asked: Asked = {
      endpoint,
      mode,
      intent,
      account,
      ...(rpm === undefined || !Number.isFinite(rpm) ? {} : { rpm }),
      ...(request.prompt === undefined && request.rawBody === undefined ? { nonce } : {}),
      ...(repeats === undefined ? {} : { repeats }),
      ...(failsUpstream(request) && { upstreamFails: true }),
      ...(request.probe === true && { probe: true }),
    };
    const kind = TimeoutPolicy.kindOf(asked, request.model);
    const live = this.recorder.start(
      { ...built, key: keyName },
      {
        bounds: this.#timeouts.boundsFor(kind, asked, request.bounds),
        freshConnection: request.freshConnection ?? false,
      },
    );
    this.#liveness.started(live, asked.upstreamFails !== true && request.probe !== true);
    const done = live.done.then((exchange) => {
      this.#inFlight--;
      this.#timeouts.note(kind, exchange);
      const answer = new Response(exchange, asked, this.rules);
      this.answers.push(answer);
      this.#liveness.ended(live, answer);
      this.#circuit.note(
        answer,
        asked.nonce !== undefined && (request.model === undefined || request.model === "plain"),
      );
      this.#count(answer);
      this.#onAnswer?.(answer);
      // At once: what is held for some seconds and let go then is what a garbage collector is worst at.
      answer.pack(this.#packer);
      return answer;
    });
    this.#underWay.add(done);
    const settled = () => this.#underWay.delete(done);
    // The caller handles a rejection.
    done.then(settled, settled);
    return { live, done };
  }

  /** Runs a scenario once per run, however many checks judge it. */
  once<T>(name: string, scenario: () => Promise<T>): Promise<T> {
    const known = this.#scenarios.get(name);
    if (known !== undefined) return known as Promise<T>;
    const running = scenario();
    this.#scenarios.set(name, running);
    return running;
  }

  /** Lets scenarios run once more whose recordings have one of these responses. */
  async forgetScenariosWith(responses: readonly Response[]): Promise<void> {
    for (const [name, running] of [...this.#scenarios]) {
      const recording = (await running.catch(() => undefined)) as Recordable;
      if (
        answersIn(recording).some((response) => responses.includes(response)) &&
        this.#scenarios.get(name) === running
      )
        this.#scenarios.delete(name);
    }
  }

  /** Sends a valid request that waits for `100 Continue` before its body. */
  async expectContinue(request: RequestSpec, defaults: SendDefaults): Promise<ContinueOutcome> {
    const { mode, share, by } = defaults;
    const endpoint = endpointOf(request, defaults, this.target);
    const throttle = await this.#enter(accountOf(request), by);
    try {
      const { keyName: _, ...built } = buildRequest(this.target, { ...request, mode }, endpoint, "ping");
      this.budget.start(share);
      this.sent.requests++;
      return await expectContinue(built, QUICK_DEADLINE_MS);
    } finally {
      throttle.leave();
    }
  }

  /** @param wait what is waited for, and which check is held up. */
  async wait(ms: number, { what, by }: Omit<Wait, "forMs">): Promise<void> {
    if (ms >= TOLD_MS) this.#onWait?.({ what, by, forMs: ms });
    await sleep(ms, this.signal);
    this.signal.throwIfAborted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#liveness[Symbol.dispose]();
    await this.recorder[Symbol.asyncDispose]();
  }

  #count(response: Response): void {
    const outputTokens = outputTokensOf(response);
    const { status, asked } = response;
    this.budget.note(outputTokens);
    this.sent.outputTokens += outputTokens;
    if (status !== undefined && status < 300 && asked.endpoint !== "models") this.sent.charged++;
  }

  /** Time base of the exchanges, ms. */
  #monotonicMs(): number {
    return this.recorder.nowUs() / 1_000;
  }

  /** How long to wait before a denial that we did not ask for is tried again; `undefined` when it is no such thing. */
  #ambientWaitMs(answer: Response): number | undefined {
    if (answer.status !== 429) return undefined;
    const isNamed = answer.reason === "rate_limit_exceeded" || answer.reason === "concurrency_limit_exceeded";
    if (!isNamed && !isUndeclaredLimit(answer)) return undefined;
    const askedMs = answer.retryAfterWaitMs ?? 1_000;
    const isMeant = answer.asked.intent === "denied" && this.#hasWaitedInVain;
    const longest = isMeant ? SHORT_AMBIENT_WAIT_MS : LONGEST_AMBIENT_WAIT_MS;
    return askedMs > longest ? undefined : askedMs;
  }

  /** Waits for a place among the requests of an account. */
  async #enter(account: string, by: string | undefined): Promise<Throttle> {
    const throttle = this.#throttleOf(account);
    await throttle.enter(this.signal, (what, forMs) => {
      const whose = account === "main" ? "key.valid" : account;
      if (forMs >= TOLD_MS) this.#onWait?.({ what: `the ${what} of ${whose}`, forMs, by });
    });
    return throttle;
  }

  #throttleOf(account: string): Throttle {
    const known = this.#throttles.get(account);
    if (known !== undefined) return known;
    const throttle = new Throttle(limitsOfAccount(this.target, account), () => this.#monotonicMs());
    this.#throttles.set(account, throttle);
    return throttle;
  }
}
