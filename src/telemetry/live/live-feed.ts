import { describeFacts } from "../../../reports/index.ts";
import { groupBy } from "../../core/index.ts";
import type { Redactor } from "../../http/recorder/index.ts";
import { type EventNotice, LoopDelay, nowUs, type RunningPhase } from "../../load/index.ts";
import { Histogram } from "../../metrics/index.ts";
import {
  type Finding,
  type JudgedPhase,
  type LoadSecond,
  type LoadVerdict,
  SAMPLES_NEEDED,
} from "../../record/index.ts";

/** A second of a phase as in the report; until the phase ends, in flight is the observed value. */
export interface LiveSecond extends LoadSecond {
  readonly run: string;
  readonly phase: string;
}

export interface LivePhase {
  readonly run: string;
  readonly phase: string;
  readonly elapsedS: number;
  /** `null` when the phase ends after a number of requests. */
  readonly totalS: number | null;
  /** Seconds until the last phase of the run ends; `null` if a number of requests ends it. */
  readonly runLeftS: number | null;
  /** `null` while the phase is running. */
  readonly verdict: LoadVerdict | null;
  readonly message: string;
  /** Of requests; `sent` includes those in flight. */
  readonly counts: RunningPhase["tally"]["total"];
  readonly inFlight: number;
  readonly connections: number;
  /** Most frequent first. */
  readonly denials: readonly { readonly reason: string; readonly count: number }[];
  /** Send time minus due time of all requests of the phase. */
  readonly scheduleLagP99Ms: number;
}

/** When an event of a workload began, or was undone. */
export type LiveEvent = Pick<EventNotice, "run" | "event" | "does" | "atS">;

/** Latencies, ms; `null`: too few requests, as in the report. */
export type LiveQuantiles = Readonly<Record<"p50" | "p95" | "p99", number | null>>;

/** Latencies of the admitted requests of a run so far; `null` if there are none. */
export interface LiveLatency {
  readonly run: string;
  readonly ttftMs: LiveQuantiles | null;
  readonly responseByModeMs: { readonly streaming: LiveQuantiles | null; readonly nonStreaming: LiveQuantiles | null };
}

/** A threshold of a workload. */
export interface LiveThreshold {
  readonly run: string;
  /** As written: `ttft_ms p95 < 800`. */
  readonly threshold: string;
  readonly outcome: Finding["outcome"];
  /** The figure with its interval, or why it does not decide. */
  readonly value: string;
}

export interface LiveUpdate {
  /** Increases by one with each update. */
  readonly id: number;
  readonly target: string;
  readonly elapsedS: number;
  readonly generator: {
    readonly scheduleLagP99Ms: number;
    /** The bound of the phase with this lag: a run with a larger one is not valid. Absent while nothing is sent. */
    readonly scheduleLagBoundMs?: number | undefined;
    /** During the last second. */
    readonly loopDelayP99Ms: number;
    /** Beyond the bounds of a running phase. */
    readonly late: boolean;
    /** The p99 lag over a whole phase exceeded its bound, which makes the run invalid. */
    readonly wasLate: boolean;
  };
  /** All phases so far, in the order of their start. */
  readonly phases: readonly LivePhase[];
  /** Of each run, its phases and dialects pooled. */
  readonly latencies: readonly LiveLatency[];
  /** What events of the workloads have done so far; seconds from the start of the run. */
  readonly events: readonly LiveEvent[];
  /** Judged by what was measured so far. */
  readonly thresholds: readonly LiveThreshold[];
  /**
   * New or changed seconds. A request counts as offered in the second in which it is due, as sent in the second of its send, once
   * it has ended, and as admitted, denied, failed or invalid in the second of its end.
   */
  readonly seconds: readonly LiveSecond[];
}

export interface WatchedPhase {
  readonly running: RunningPhase;
  readonly beganUs: number;
  /** The same by the wall clock, Unix epoch milliseconds. */
  readonly beganMs: number;
  /** Seconds by start time, with the update in which they last changed. */
  readonly seconds: Map<number, { readonly id: number; readonly second: LiveSecond }>;
  /** Highest in-flight count observed in each second, by index. */
  readonly seen: Map<number, number>;
  ended: JudgedPhase | undefined;
}

export interface LiveFeedOptions {
  /** Name of the target. */
  readonly target: string;
  readonly redactor: Redactor;
  readonly onUpdate: (update: LiveUpdate) => void;
}

const TICK_MS = 1_000;
/** A request that takes longer than this updates its second only when the phase ends. */
const MAY_CHANGE_S = 300;
/** Seconds kept per phase: an hour. The report has all of them. */
const MAX_SECONDS = 3_600;
/** A gateway may generate a new reason for each denial: only the most frequent ones are shown. */
const MAX_REASONS = 20;
const MAX_REASON_CHARACTERS = 120;

/**
 * The live view of a running load. Once a second it reads the counters and the seconds that the report is made of; the senders
 * do not know about it.
 */
export class LiveFeed implements Disposable {
  readonly phases: WatchedPhase[] = [];
  readonly #events: LiveEvent[] = [];
  readonly #thresholds = new Map<string, readonly LiveThreshold[]>();
  readonly #options: LiveFeedOptions;
  readonly #beganUs = nowUs();
  readonly #delay = new LoopDelay();
  readonly #ticking: NodeJS.Timeout;
  #latest: LiveUpdate;

  constructor(options: LiveFeedOptions) {
    this.#options = options;
    this.#latest = this.#update(0);
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
    this.#ticking.unref();
  }

  start(running: RunningPhase): void {
    this.phases.push({
      running,
      beganUs: nowUs(),
      beganMs: Date.now(),
      seconds: new Map(),
      seen: new Map(),
      ended: undefined,
    });
  }

  /** Marks what an event does, when it begins. */
  marked({ run, event, does, atS, execution }: EventNotice): void {
    if (execution === undefined) this.#events.push({ run, event, does, atS });
  }

  /** Takes over the final seconds from the record. An incomplete last second is dropped: it would look like a collapse. */
  ended(run: string, ended: JudgedPhase): void {
    const phase = this.phases.find(({ running }) => running.run === run && running.name === ended.name);
    if (phase === undefined) return;
    phase.ended = ended;
    const { series, startS, durationS } = ended;
    const complete = series.filter(({ atS }) => atS + 1 <= startS + durationS);
    this.#note(phase, this.#latest.id + 1, complete.length > 0 ? complete : series);
    this.#tick();
  }

  get loopDelayP99Ms(): number {
    return this.#latest.generator.loopDelayP99Ms;
  }

  /** What changed after an update; everything for 0. */
  since(id: number): LiveUpdate {
    return { ...this.#latest, seconds: this.#secondsAfter(id) };
  }

  #tick(): void {
    const id = this.#latest.id + 1;
    const atUs = nowUs();
    for (const phase of this.phases) {
      if (phase.ended !== undefined) continue;
      const { running, seen } = phase;
      const { tally, originUs } = running;
      const index = Math.floor((atUs - tally.startUs) / 1_000_000);
      seen.set(index, Math.max(seen.get(index) ?? 0, running.sender.inFlight));
      const offsetS = (tally.startUs - originUs) / 1_000_000;
      const over = tally.over(offsetS, { atUs, from: Math.max(0, index - MAY_CHANGE_S) });
      const withGauge = over.map((second) => ({
        ...second,
        inFlight: Math.max(second.inFlight, seen.get(Math.round(second.atS - offsetS)) ?? 0),
      }));
      this.#note(phase, id, withGauge);
    }
    this.#latest = this.#update(id);
    this.#options.onUpdate({ ...this.#latest, seconds: this.#secondsAfter(id - 1) });
  }

  #note({ running, seconds }: WatchedPhase, id: number, read: readonly LoadSecond[]): void {
    const { run, name } = running;
    for (const one of read) {
      const second: LiveSecond = { ...one, run, phase: name };
      const known = seconds.get(one.atS);
      if (known !== undefined && JSON.stringify(known.second) === JSON.stringify(second)) continue;
      seconds.set(one.atS, { id, second });
    }
    for (const atS of seconds.keys()) {
      if (seconds.size <= MAX_SECONDS) break;
      seconds.delete(atS);
    }
  }

  #secondsAfter(id: number): LiveSecond[] {
    return this.phases.flatMap(({ seconds }) =>
      [...seconds.values()].filter((one) => one.id > id).map(({ second }) => second),
    );
  }

  #update(id: number): LiveUpdate {
    const { target, redactor } = this.#options;
    const ownDelayMs = this.#delay.takeP99Ms();
    const phases = this.phases.map(livePhase);
    const sending = this.phases.filter(({ ended }) => ended === undefined);
    // This thread's delay is the generator's unless workers send everything.
    const delaysMs = sending.map(({ running }) => running.loopDelayP99Ms ?? ownDelayMs);
    const loopDelayP99Ms = delaysMs.length === 0 ? ownDelayMs : Math.max(...delaysMs);
    const lagMs = sending.map(({ running }) => lagP99MsOf(running));
    const late = sending.some(
      ({ running: { bounds } }, index) =>
        loopDelayP99Ms > bounds.loopDelayP99Ms || (lagMs[index] ?? 0) > bounds.scheduleLagP99Ms,
    );
    const scheduleLagP99Ms = Math.max(0, ...lagMs);
    const scheduleLagBoundMs = sending[lagMs.indexOf(scheduleLagP99Ms)]?.running.bounds.scheduleLagP99Ms;
    const wasLate = this.phases.some(({ running }) => lagP99MsOf(running) > running.bounds.scheduleLagP99Ms);
    return {
      id,
      target,
      elapsedS: (nowUs() - this.#beganUs) / 1_000_000,
      generator: { scheduleLagP99Ms, scheduleLagBoundMs, loopDelayP99Ms, late, wasLate },
      // Truncated after masking: a truncated key would not be recognised.
      phases: redactor.redactValue(phases).map((phase) => ({ ...phase, denials: phase.denials.map(shortened) })),
      latencies: latenciesOf(this.phases),
      events: [...this.#events],
      thresholds: redactor.redactValue(this.phases.flatMap((phase) => this.#thresholdsOf(phase))),
      seconds: [],
    };
  }

  /** Those of a phase that has ended stay as they were judged last; the verdict of the run has the final ones. */
  #thresholdsOf({ running, ended }: WatchedPhase): readonly LiveThreshold[] {
    const { run, judgeThresholds } = running;
    if (judgeThresholds === undefined) return [];
    if (ended === undefined || !this.#thresholds.has(run))
      this.#thresholds.set(run, liveThresholds(run, judgeThresholds()));
    return this.#thresholds.get(run) ?? [];
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ticking);
    this.#delay[Symbol.dispose]();
  }
}

/** Histograms are merged; percentiles are never averaged. */
function latenciesOf(phases: readonly WatchedPhase[]): LiveLatency[] {
  return [...groupBy(phases, ({ running }) => running.run)].map(([run, some]) => {
    const pooled = (figure: "ttft" | "response", streams: boolean) => {
      const all = new Histogram();
      for (const { running } of some)
        for (const { outcome, stream, figures } of running.tally.classes)
          if (outcome === "admitted" && stream === streams)
            for (const [name, histogram] of figures) if (name === figure) all.merge(histogram);
      const quantiles = all.quantilesMs();
      if (quantiles === null) return null;
      const known = (name: "p95" | "p99") => (all.count < SAMPLES_NEEDED[name] ? null : quantiles[name]);
      return { p50: quantiles.p50, p95: known("p95"), p99: known("p99") };
    };
    const responseByModeMs = { streaming: pooled("response", true), nonStreaming: pooled("response", false) };
    return { run, ttftMs: pooled("ttft", true), responseByModeMs };
  });
}

/** Send time minus due time of all requests of a phase so far. */
const lagP99MsOf = ({ tally }: RunningPhase): number => tally.lag.quantileUs(0.99) / 1_000;

const shortened = ({ reason, count }: LivePhase["denials"][number]) => ({
  reason: reason.slice(0, MAX_REASON_CHARACTERS),
  count,
});

export const liveThresholds = (run: string, findings: readonly Finding[]): LiveThreshold[] =>
  findings.map((finding) => ({
    run,
    threshold: finding.name,
    outcome: finding.outcome,
    value: describeFacts(finding),
  }));

function livePhase({ running, beganUs, ended }: WatchedPhase): LivePhase {
  const { run, name, totalS, laterS = 0, tally, outcomes, sender } = running;
  const elapsedS = ended?.durationS ?? (nowUs() - beganUs) / 1_000_000;
  const denials = new Map<string, number>();
  for (const { reason, count } of outcomes.close().denials) denials.set(reason, (denials.get(reason) ?? 0) + count);
  const inFlight = ended === undefined ? sender.inFlight : 0;
  return {
    run,
    phase: name,
    elapsedS,
    totalS: totalS ?? null,
    runLeftS: totalS === undefined ? null : Math.max(0, ended === undefined ? totalS - elapsedS : 0) + laterS,
    verdict: ended?.verdict ?? null,
    message: ended?.message ?? "",
    // The tally counts a request when it ends.
    counts: { ...tally.total, sent: tally.total.sent + inFlight },
    inFlight,
    connections: ended?.connections ?? sender.opened,
    denials: [...denials]
      .map(([reason, count]) => ({ reason, count }))
      .sort((a, b) => b.count - a.count)
      .slice(0, MAX_REASONS),
    scheduleLagP99Ms: lagP99MsOf(running),
  };
}
