import { writeSync } from "node:fs";
import { EXIT, maskLikely, messageOf } from "../core/index.ts";
import { internalError, wantsJson, writeErrorNow } from "./json-output.ts";

/** Shorter values of the environment stand in ordinary text. */
const SHORTEST = 8;

/**
 * What may be printed of an error that nobody foresaw. Its text may quote anything, such as the beginning of a key file
 * that is no JSON; here no redactor knows the keys of the run any more.
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
 * Ends the process after an error that no code of ours caught. The only place that does: what is still under way would
 * keep it alive for good. Journals are written line by line and are whole.
 */
export function crashWith(thrown: unknown): void {
  const text = describeCrash(thrown, process.env);
  try {
    if (wantsJson(process.argv)) writeErrorNow(internalError(text), EXIT.internal);
    writeSync(2, `gauntlet: ${text}\n`);
  } catch {
    // Nobody reads it; the exit code still says it.
  }
  process.exit(EXIT.internal);
}

/**
 * Called when a standard stream cannot be written. A reader that left is its own affair; a full disk means that the
 * output is not what the caller asked for.
 */
export function outputFailed(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED") return;
  try {
    writeSync(2, `gauntlet: the output cannot be written: ${error.message}\n`);
  } catch {
    // The stream that failed is this one.
  }
  process.exitCode ||= EXIT.inconclusive;
}
