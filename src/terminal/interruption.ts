import { writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { EXIT } from "../core/index.ts";
import type { Interruption } from "../run/control/index.ts";
import { wantsJson, writeErrorNow } from "./json-output.ts";

type EndingSignal = "SIGINT" | "SIGTERM";

/** How long requests in flight may take to end after the first signal, ms. */
const IN_FLIGHT_MS = 800;

/**
 * The first signal ends the run with a report: requests in flight get a moment, then they are aborted as by a second signal. A
 * third signal, or a timeout for all of this, ends the process.
 *
 * @param onSignal called at the first signal, with the folder in which the run is recorded, if there is one.
 */
export function watchInterruption(onSignal: (folder: string | undefined) => void): Interruption & AsyncDisposable {
  const first = new AbortController();
  const second = new AbortController();
  let by: EndingSignal | undefined;
  let atMs: number | undefined;
  let folder: string | undefined;
  let end: EndDeadline | undefined;
  let extendedByMs = 0;
  const stop = (signal: EndingSignal) => {
    if (by !== undefined) {
      second.abort();
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
      return;
    }
    by = signal;
    atMs = performance.now();
    end = new EndDeadline(signal, folder);
    onSignal(folder);
    setTimeout(() => second.abort(), IN_FLIGHT_MS).unref();
    first.abort();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return {
    signal: first.signal,
    now: second.signal,
    by: () => by,
    // An extension postpones the deadline.
    sinceMs: () => (atMs === undefined ? 0 : Math.max(0, performance.now() - atMs - extendedByMs)),
    extendEnd: (byMs) => {
      extendedByMs = Math.max(extendedByMs, byMs);
      end?.extend(extendedByMs);
    },
    recordedIn: (path) => {
      folder = path;
    },
    stop: () => first.abort(),
    async [Symbol.asyncDispose]() {
      // After an error, checks may still wait for a rate window; the process must not wait for them.
      first.abort();
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
    },
  };
}

/** After a signal the process exits within this time, ms, whatever it still waits for. */
const EXIT_MS = 2_200;

/** After this time, ms, it is killed: the event loop is blocked. */
const KILL_MS = 2_500;

/** Kills the process from another thread, which is the only way while the event loop is blocked. */
const KILLER = `
const { parentPort, workerData } = require("node:worker_threads");
const kill = (text) => {
  try { require("node:fs").writeSync(2, text); } catch {}
  process.kill(process.pid, "SIGKILL");
};
let timer = setTimeout(kill, workerData.afterMs, workerData.text);
parentPort.on("message", ({ afterMs, text }) => {
  clearTimeout(timer);
  timer = setTimeout(kill, afterMs, text);
});
`;

/**
 * Bounds the time from a signal to the end of the process. Journal and exchanges are written line by line, so that `gauntlet
 * report` can report whatever was recorded by then.
 */
class EndDeadline {
  readonly #atMs = performance.now();
  readonly #by: EndingSignal;
  readonly #folder: string | undefined;
  #timer: NodeJS.Timeout;
  #killer: Worker | undefined;

  /**
   * @param by the signal that was received.
   * @param folder in which the run is recorded; `undefined` if nothing is.
   */
  constructor(by: EndingSignal, folder: string | undefined) {
    this.#by = by;
    this.#folder = folder;
    this.#timer = setTimeout(() => this.#exit(EXIT_MS), EXIT_MS).unref();
    try {
      const workerData = { text: this.#texts(KILL_MS).text, afterMs: KILL_MS };
      this.#killer = new Worker(KILLER, { eval: true, execArgv: [], env: {}, workerData });
      this.#killer.on("error", () => undefined);
      this.#killer.unref();
    } catch {
      // No thread, for example if memory is short: the timer remains.
    }
  }

  /** The process may end this much later than without the call, ms. */
  extend(byMs: number): void {
    const spentMs = performance.now() - this.#atMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#exit(EXIT_MS + byMs), EXIT_MS + byMs - spentMs).unref();
    this.#killer?.postMessage({ afterMs: KILL_MS + byMs - spentMs, text: this.#texts(KILL_MS + byMs).text });
  }

  #texts(afterMs: number) {
    const message = `ended ${(afterMs / 1_000).toFixed(1)} s after ${this.#by}, before everything was written`;
    const hint =
      this.#folder === undefined ? null : `\`gauntlet report ${this.#folder}\` renders what was recorded until then.`;
    return { message, hint, text: `gauntlet: ${message}\n${hint === null ? "" : `  ${hint}\n`}` };
  }

  #exit(afterMs: number): void {
    const { message, hint, text } = this.#texts(afterMs);
    try {
      if (wantsJson(process.argv)) writeErrorNow({ code: "INTERRUPTED", message, hint }, exitCodeOf(this.#by));
      writeSync(2, text);
    } catch {
      // Nobody reads the stream; the exit code still reports it.
    }
    process.exit(exitCodeOf(this.#by));
  }
}

const exitCodeOf = (by: EndingSignal): 130 | 143 => (by === "SIGINT" ? EXIT.interrupted : EXIT.terminated);
