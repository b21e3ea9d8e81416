import { onAbort } from "../../core/index.ts";
import { nowUs } from "../../http/load-client/index.ts";
import type { EventExecution } from "../../record/index.ts";
import { type Action, describeAction } from "../../target/index.ts";
import type { WorkloadEvent } from "./event.ts";
import { performAction } from "./perform-action.ts";
import { actionOf } from "./permitted-events.ts";

/** What happened to an event. */
export interface ExecutedEvent {
  readonly event: WorkloadEvent;
  /** `undefined`: the load ended before it. */
  readonly execution: EventExecution | undefined;
  readonly undo: EventExecution | undefined;
}

/** The start or the end of an action, for the display and the journal. */
export interface EventNotice {
  /** Name of the workload. */
  readonly run: string;
  readonly event: string;
  readonly does: "action" | "undo";
  readonly action: string;
  /** Seconds from the start of the run. */
  readonly atS: number;
  /** Absent at the start. */
  readonly execution?: EventExecution;
}

export interface EventRunnerOptions {
  /** Name of the workload. */
  readonly run: string;
  readonly events: readonly WorkloadEvent[];
  /** Start of the run and of the measurement, on the clock of `nowUs`. */
  readonly originUs: number;
  readonly startUs: number;
  /** The run is interrupted: running commands are ended, and everything is undone at once. */
  readonly stop: AbortSignal;
  /** Masks secrets. */
  readonly redact: (text: string) => string;
  readonly onNotice: (notice: EventNotice) => void;
  /** Lets the process run for this much longer after a signal, ms. */
  readonly extendEnd?: ((byMs: number) => void) | undefined;
}

interface State {
  readonly event: WorkloadEvent;
  running?: Promise<void>;
  execution?: EventExecution;
  undoing?: Promise<void>;
  undo?: EventExecution;
}

/** Undo actions are never aborted. */
const NEVER = new AbortController().signal;

/** Executes the events of a workload while its load is sent, and undoes them. */
export class EventRunner {
  readonly #options: EventRunnerOptions;
  readonly #states: readonly State[];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #abort = new AbortController();
  readonly #listening: Disposable;

  constructor(options: EventRunnerOptions) {
    this.#options = options;
    this.#states = options.events.map((event) => ({ event }));
    const inMs = (atS: number) => Math.max(0, (options.startUs - nowUs()) / 1_000 + atS * 1_000);
    for (const state of this.#states) {
      const { atS, durationS } = state.event;
      this.#timers.push(setTimeout(() => this.#begin(state), inMs(atS)));
      if (durationS !== undefined) this.#timers.push(setTimeout(() => void this.#undo(state), inMs(atS + durationS)));
    }
    this.#listening = onAbort(options.stop, () => void this.#interrupt());
    if (options.stop.aborted) void this.#interrupt();
  }

  /** Waits for running actions, and undoes what has not been undone, the latest event first. Call it on every ending. */
  async end(): Promise<ExecutedEvent[]> {
    this.#cancel();
    await Promise.all(this.#states.map(({ running }) => running));
    for (const state of this.#states.toReversed()) await this.#undo(state);
    this.#listening[Symbol.dispose]();
    return this.#states.map(({ event, execution, undo }) => ({ event, execution, undo }));
  }

  #cancel(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Undoes events without waiting for requests in flight: the process must end soon after a signal. */
  #interrupt(): Promise<unknown> {
    this.#cancel();
    this.#abort.abort();
    for (const { event, execution, running, undo } of this.#states)
      if (event.after !== undefined && undo === undefined && (execution ?? running) !== undefined)
        this.#options.extendEnd?.(actionOf(event.after).timeoutMs);
    return Promise.all(this.#states.map((state) => this.#undo(state)));
  }

  #begin(state: State): void {
    const action = actionOf(state.event.action);
    state.running = this.#perform(state.event, "action", action, this.#abort.signal).then((execution) => {
      state.execution = execution;
    });
  }

  /** Undoes an event that has begun, once; an undo that failed at its time is repeated at the end. */
  #undo(state: State): Promise<void> {
    const { event, running } = state;
    if (event.after === undefined || running === undefined || state.undo?.succeeded === true) return Promise.resolve();
    const after = actionOf(event.after);
    state.undoing ??= running
      .then(() => this.#perform(event, "undo", after, NEVER))
      .then((undo) => {
        state.undo = undo;
        delete state.undoing;
      });
    return state.undoing;
  }

  async #perform(
    { name }: WorkloadEvent,
    does: EventNotice["does"],
    action: Action,
    signal: AbortSignal,
  ): Promise<EventExecution> {
    const { run, originUs, redact, onNotice } = this.#options;
    const nowS = () => (nowUs() - originUs) / 1_000_000;
    const startedS = nowS();
    const text = redact(describeAction(action));
    onNotice({ run, event: name, does, action: text, atS: startedS });
    const { output, result, ...performed } = await performAction(action, signal);
    const endedS = nowS();
    const done = { action: text, startedS, endedS, ...performed, result: redact(result), output: redact(output) };
    onNotice({ run, event: name, does, action: text, atS: endedS, execution: done });
    return done;
  }
}
