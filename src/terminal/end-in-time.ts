import { writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { EXIT } from "../core/index.ts";
import { wantsJson, writeErrorNow } from "./json-output.ts";

export type EndingSignal = "SIGINT" | "SIGTERM";

/** After a signal the process exits within this time, ms, whatever it still waits for. */
const EXIT_MS = 2_200;
/** After this time, ms, it is killed: the event loop is blocked. */
const KILL_MS = 2_500;

/** Kills the process from another thread, which is the only way while the event loop is blocked. */
const KILLER = `
const { workerData } = require("node:worker_threads");
setTimeout(() => {
  try { require("node:fs").writeSync(2, workerData.text); } catch {}
  process.kill(process.pid, "SIGKILL");
}, workerData.afterMs);
`;

/**
 * Bounds the time from a signal to the end of the process. Journal and exchanges are written line by line, so that `gauntlet
 * report` can report whatever was recorded by then.
 *
 * @param by the signal that was received.
 * @param folder in which the run is recorded; `undefined` if nothing is.
 */
export function endInTime(by: EndingSignal, folder: string | undefined): void {
  const message = `ended ${EXIT_MS / 1_000} s after ${by}, before everything was written`;
  const hint = folder === undefined ? null : `\`gauntlet report ${folder}\` renders what was recorded until then.`;
  const text = `gauntlet: ${message}\n${hint === null ? "" : `  ${hint}\n`}`;
  const exit = () => {
    try {
      if (wantsJson(process.argv)) writeErrorNow({ code: "INTERRUPTED", message, hint }, exitCodeOf(by));
      writeSync(2, text);
    } catch {
      // Nobody reads the stream; the exit code still reports it.
    }
    process.exit(exitCodeOf(by));
  };
  setTimeout(exit, EXIT_MS).unref();
  try {
    const workerData = { text, afterMs: KILL_MS };
    const killer = new Worker(KILLER, { eval: true, execArgv: [], env: {}, workerData });
    killer.on("error", () => undefined);
    killer.unref();
  } catch {
    // No thread, for example if memory is short: the timer remains.
  }
}

const exitCodeOf = (by: EndingSignal): 130 | 143 => (by === "SIGINT" ? EXIT.interrupted : EXIT.terminated);
