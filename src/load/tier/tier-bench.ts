import { setImmediate } from "node:timers/promises";
import type { Share } from "../../budget/index.ts";
import { nonceOf, sleep } from "../../core/index.ts";
import type { Dialect } from "../../dialects/index.ts";
import { type LoadExchange, nowUs, type PreparedRequest } from "../../http/load-client/index.ts";
import type { Observation } from "../../judging/index.ts";
import { LEFT } from "../../limits/index.ts";
import { Histogram, type TaggedHistogram } from "../../metrics/index.ts";
import type { Finding, JudgedPhase } from "../../record/index.ts";
import type { Key, Limits, Target } from "../../target/index.ts";
import { judgeReplies } from "../analysis/judge-replies.ts";
import { TIER_BOUNDS } from "../measure/generator-health.ts";
import { OutcomeCounts, phaseRecord } from "../measure/phase-record.ts";
import { ProgressMeter } from "../measure/progress.ts";
import { Sampler } from "../measure/sampler.ts";
import { Tally } from "../measure/tally.ts";
import { guardOver, type LoadGuard } from "../send/load-guard.ts";
import { outcomeOf } from "../send/outcome.ts";
import { modelFor, prepareRequest } from "../send/prepared-requests.ts";
import { type ReadReason, reasonReader } from "../send/read-reason.ts";
import { SpanSampler } from "../send/request-span.ts";
import type { LoadContext } from "../send/run-workload.ts";
import { senderTo, type TargetSender } from "../send/sender-to.ts";
import { DEFAULT_ALLOW } from "../workload/workload.ts";
import { echoFlaw, echoPrompt } from "./echo.ts";
import { judgeAdmission, type LongModel } from "./judge/judge-service.ts";
import { observationOf } from "./observations.ts";
import { Waves } from "./waves.ts";

export interface TierRequest {
  readonly dialect: Dialect;
  readonly stream: boolean;
  /** `long`: the model with the longest streams. `echo`: the ordinary one, with a unique text. */
  readonly kind: "long" | "echo";
  /** Index of the account's key; default: rotation. */
  readonly key?: number;
}

/**
 * Judges what a phase sent, in pieces: concurrent tiers keep sending, and a long synchronous judgement would stall all of them.
 */
export type PhaseJudge = (observations: readonly Observation[]) => Iterable<readonly Finding[]>;

/** A phase before it runs. */
export interface PhaseSpec {
  readonly name: string;
  readonly title: string;
  readonly totalS: number;
  /** Approximate duration of the phases after it. */
  readonly laterS: number;
  /** Names of the findings that it must decide to pass. */
  readonly questions: readonly string[];
}

interface Phase extends Omit<PhaseSpec, "questions"> {
  readonly tally: Tally;
  readonly outcomes: OutcomeCounts;
  readonly startUs: number;
  readonly meter: ProgressMeter;
  peak: number;
}

/** What the phases of a tier run share: one account, its connections, and all observations. */
export class TierBench implements AsyncDisposable {
  readonly target: Target;
  readonly limits: Limits;
  readonly keys: readonly Key[];
  /** Also ends the run. */
  readonly guard: LoadGuard;
  readonly stop: AbortSignal;
  readonly observations: Observation[] = [];
  readonly phases: JudgedPhase[] = [];
  readonly histograms: TaggedHistogram[] = [];
  readonly lag = new Histogram();
  readonly originUs = nowUs();
  readonly startedAt = new Date();
  readonly sender: TargetSender;
  readonly sampler: Sampler;
  readonly run: string;
  long: LongModel;
  /** Shared with the tiers that run concurrently. */
  readonly waves: Waves;
  readonly #context: LoadContext;
  readonly #read: ReadReason;
  readonly #tag: string;
  /** Keeps the unique texts of concurrent tiers distinct. */
  readonly #serials: string;
  readonly #spans: SpanSampler | undefined;
  readonly #refused: Observation[] = [];
  #turns = 0;
  #nonces = 0;
  #phase: Phase | undefined;
  #waiting: { readonly what: string; readonly untilUs: number } | undefined;

  /** @param share the requests that the run may send. */
  constructor(run: string, limits: Limits, share: Share, context: LoadContext, waves = new Waves()) {
    this.run = run;
    this.waves = waves;
    this.#context = context;
    this.target = context.target;
    this.limits = limits;
    this.keys = context.keys;
    this.guard = guardOver(share, { outputTokens: context.outputTokens, circuit: context.target.circuit });
    this.stop = AbortSignal.any([context.stop, this.guard.signal]);
    this.#read = reasonReader(context.target);
    const { onSpan } = context;
    const originMs = this.startedAt.getTime();
    this.#spans =
      onSpan && new SpanSampler({ run, requests: share.planned, originUs: this.originUs, originMs, onSpan });
    this.#tag = (context.seed >>> 0).toString(16);
    this.#serials = run
      .slice(0, 2)
      .toLowerCase()
      .replace(/[^0-9a-z]/g, "");
    this.long = { durationMs: 0, longestGapMs: 0, spread: {} };
    this.sender = senderTo(context.target, { maxConnections: limits.inFlight * 2 + 64 });
    context.abort.addEventListener("abort", () => this.sender.abortAll(), { once: true });
    this.sampler = new Sampler({
      redactor: context.redactor,
      originUs: this.originUs,
      originMs,
      prefix: `${run.slice(0, 2)}`,
      account: `tiers.${run}`,
      rpm: limits.rpm,
      onSample: context.onSample,
    });
  }

  get ratePerS(): number {
    return this.limits.rpm / 60;
  }

  get isEcho(): boolean {
    const { dialects, models } = this.target;
    const { echo, plain } = models[dialects[0] ?? "chat"];
    return echo !== undefined && echo === plain;
  }

  get stopped(): boolean {
    return this.stop.aborted;
  }

  /** Each dialect that the target serves, streaming and non-streaming, without the kinds that the gateway rejects. */
  kinds(kind: TierRequest["kind"]): TierRequest[] {
    const all = this.target.dialects.flatMap((dialect) => [false, true].map((stream) => ({ dialect, stream, kind })));
    return all.filter((request) => !this.refuses(request));
  }

  /** Streams of the long model, in each dialect that supports streaming and this model. */
  longStreams(): TierRequest[] {
    const streams = this.kinds("long").filter(({ stream }) => stream);
    const long = streams.filter(({ dialect }) => this.target.models[dialect].stream !== undefined);
    return long.length > 0 ? long : streams;
  }

  /** Records that the gateway does not serve this kind of request: it would say nothing about limits. */
  excludeKind(refused: Observation): void {
    this.#refused.push(refused);
  }

  refuses({ dialect, stream }: Pick<TierRequest, "dialect" | "stream">): boolean {
    return this.#refused.some((one) => one.dialect === dialect && one.stream === stream);
  }

  prepared(request: TierRequest): PreparedRequest {
    const { dialect, stream, kind } = request;
    const key = this.keys[(request.key ?? this.#turns++) % this.keys.length] as Key;
    const nonce = nonceOf(this.#tag, this.#serials + (++this.#nonces).toString(36));
    const isLong = kind === "long";
    const model = modelFor(this.target, dialect, isLong);
    const common = { dialect, stream, model, key, ordinal: this.#nonces, trace: this.#spans?.next() };
    // Also marked: it must not appear in another response.
    const story = { prompt: `Tell me a long story. ${nonce}`, maxTokens: 1_024, capture: false };
    const echo = { prompt: echoPrompt(nonce), maxTokens: 256, capture: true, nonce };
    return prepareRequest(this.target, { ...common, ...(isLong ? story : echo) });
  }

  /** Sends immediately. Resolves with the observation; `undefined` if every connection is in use, or if sending has stopped. */
  send(request: TierRequest, role: string, dueUs = nowUs()): Promise<Observation | undefined> {
    const phase = this.#phase;
    if (phase === undefined) throw new Error("nothing is sent outside a phase");
    if (!this.guard.take()) return Promise.resolve(undefined);
    const isCounted = role !== LEFT;
    if (isCounted) phase.tally.offered(dueUs);
    return new Promise((resolve) => {
      const sent = this.sender.send(this.prepared(request), dueUs, (exchange) =>
        resolve(this.#ended(exchange, phase, role)),
      );
      phase.peak = Math.max(phase.peak, this.sender.inFlight);
      if (sent) return;
      if (isCounted) phase.tally.dropped(dueUs);
      resolve(undefined);
    });
  }

  #ended(exchange: LoadExchange, phase: Phase, role: string): Observation {
    const result = outcomeOf(exchange, this.#read);
    const sentUs = exchange.sentUs === 0 ? exchange.endUs : exchange.sentUs;
    this.guard.note(exchange, result);
    this.lag.record(sentUs - exchange.dueUs);
    const recorded = this.sampler.offer(`${this.run}/${phase.name}`, exchange, result);
    // A client that aborts on purpose has not failed: its observation is judged but not counted in any total.
    if (role !== LEFT) {
      phase.tally.sent(exchange.dueUs, sentUs, exchange.inFlight);
      phase.tally.ended(exchange, result.outcome);
      phase.outcomes.add(exchange, result, recorded);
      this.#spans?.ended(exchange, result, phase.name);
    }
    const { retryAfter } = exchange;
    const fact = observationOf(exchange, result, {
      phase: phase.name,
      role,
      retryAfter,
      retryAfterWaitMs: exchange.retryAfterWaitMs,
      exchange: recorded,
      flaw: echoFlaw(exchange, this.isEcho),
    });
    this.observations.push(fact);
    return fact;
  }

  /** Waits. @param what reason, if the wait is long. @returns false if the run was stopped meanwhile. */
  async wait(ms: number, what?: string): Promise<boolean> {
    if (ms <= 0) return !this.stopped;
    if (what !== undefined) this.#waiting = { what, untilUs: nowUs() + ms * 1_000 };
    return sleep(ms, this.stop);
  }

  /** Shows in the progress what clients are waiting for when they time their own waits. The longest wait wins. */
  showWait(ms: number, what: string): void {
    const untilUs = nowUs() + ms * 1_000;
    if (untilUs > (this.#waiting?.untilUs ?? 0)) this.#waiting = { what, untilUs };
  }

  /** Runs a phase and adds it to the record with its judge's findings. */
  async phase({ questions, ...spec }: PhaseSpec, act: () => Promise<void>, judge: PhaseJudge): Promise<void> {
    const { name, title } = spec;
    const startUs = nowUs();
    const phase: Phase = {
      ...spec,
      startUs,
      tally: new Tally(startUs),
      outcomes: new OutcomeCounts(),
      meter: new ProgressMeter(),
      peak: 0,
    };
    this.#phase = phase;
    const opened = this.sender.opened;
    const { run, originUs, sender } = this;
    this.#context.onRunning?.({ ...phase, run, originUs, sender, bounds: TIER_BOUNDS });
    const reporting = setInterval(() => this.#report(phase), 500);
    await act();
    clearInterval(reporting);
    const endUs = nowUs();
    const own = this.observations.filter((fact) => fact.phase === name);
    const { admitted } = phase.tally.total;
    const findings = [
      ...judgeAdmission(own),
      ...judgeReplies("service", { admitted, ...phase.outcomes.close() }, DEFAULT_ALLOW),
    ];
    await this.waves.waitUntilIdle();
    for (const some of judge(own)) {
      findings.push(...some);
      await setImmediate();
      await this.waves.waitUntilIdle();
    }
    const ended = phaseRecord({
      name,
      title,
      tally: phase.tally,
      outcomes: phase.outcomes,
      startS: (startUs - this.originUs) / 1_000_000,
      durationS: (endUs - startUs) / 1_000_000,
      peakInFlight: phase.peak,
      connections:
        name === this.phases[0]?.name || this.phases.length === 0 ? this.sender.opened : this.sender.opened - opened,
      findings,
      questions,
    });
    this.phases.push(ended);
    const atMs = (us: number) => this.startedAt.getTime() + (us - this.originUs) / 1_000;
    this.histograms.push(...phase.tally.histograms(`${this.run}.${name}`, atMs(startUs), atMs(endUs)));
    this.#context.onPhase?.(this.run, ended);
  }

  #report(phase: Phase): void {
    const { onProgress } = this.#context;
    if (onProgress === undefined) return;
    const elapsedS = (nowUs() - phase.startUs) / 1_000_000;
    const waitS = ((this.#waiting?.untilUs ?? 0) - nowUs()) / 1_000_000;
    onProgress(
      phase.meter.read(phase.tally, {
        ...{ run: this.run, phase: phase.name, elapsedS, totalS: phase.totalS, inFlight: this.sender.inFlight },
        runLeftS: Math.max(0, phase.totalS - elapsedS) + phase.laterS,
        waiting: this.#waiting === undefined || waitS <= 0 ? undefined : { what: this.#waiting.what, leftS: waitS },
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sender[Symbol.asyncDispose]();
  }
}
