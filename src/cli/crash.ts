import { writeSync } from "node:fs";
import { EXIT, maskLikely, messageOf } from "../core/index.ts";
import { internalError, wantsJson, writeErrorNow } from "../terminal/index.ts";

/** Shorter values of the environment occur in ordinary text. */
const SHORTEST = 8;

/**
 * The printable part of an unexpected error. Its text may quote anything, such as the start of a key file that is not JSON, and
 * no redactor knows the keys of the run at this point.
 */
export function describeCrash(thrown: unknown, environment: NodeJS.ProcessEnv): string {
  const stack = thrown instanceof Error ? (thrown.stack ?? "") : "";
  const text = [`internal error: ${messageOf(thrown)}`, ...stack.split("\n").filter((line) => /^\s+at /.test(line))];
  const values = Object.values(environment).filter(
    (value) => (value ?? "").length >= SHORTEST && /^\S*\d\S*$/.test(value ?? ""),
  );
  const known = values.filter((value) => !/[/\\:]/.test(value ?? ""));
  const shown = known.reduce<string>((masked, value) => masked.replaceAll(value ?? "", "[masked]"), text.join("\n"));
  return maskLikely(shown);
}

/**
 * Ends the process after an uncaught error. This is the only place that calls exit, because pending work would keep the process
 * alive forever. Journals are written line by line and stay intact.
 */
export function crashWith(thrown: unknown): void {
  const text = describeCrash(thrown, process.env);
  try {
    if (wantsJson(process.argv)) writeErrorNow(internalError(text), EXIT.internal);
    writeSync(2, `gauntlet: ${text}\n`);
  } catch {
    // Nobody reads the stream; the exit code still reports it.
  }
  process.exit(EXIT.internal);
}

/**
 * Called when a standard stream cannot be written. A reader that closed the pipe is fine; a full disk means that the output is
 * incomplete.
 */
export function outputFailed(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED") return;
  try {
    writeSync(2, `gauntlet: the output cannot be written: ${error.message}\n`);
  } catch {
    // This is the stream that failed.
  }
  process.exitCode ||= EXIT.inconclusive;
}
