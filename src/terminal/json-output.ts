import { writeSync } from "node:fs";
import { EXIT, escapedJson, GauntletError } from "../core/index.ts";

/** Whether this process has written its document: stdout takes only one. */
let isWritten = false;

/** Writes the one JSON document of a command. */
export function writeDocument(document: object): void {
  isWritten = true;
  process.stdout.write(`${escapedJson(document)}\n`);
}

/** Whether a command line requests JSON, even if it cannot be parsed. */
export function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const own = end < 0 ? args : args.slice(0, end);
  return own.some((argument) => argument === "--json" || argument === "--json=true");
}

/**
 * Writes how a command ended without an outcome, unless a document was already written.
 *
 * @param text of an unexpected error, without secrets.
 */
export function writeError(error: unknown, text: string): void {
  if (!isWritten)
    writeDocument(
      error instanceof GauntletError
        ? errorOf(error)
        : { verdict: "error", exitCode: EXIT.internal, error: internalError(text) },
    );
}

/** The same if the process ends immediately. */
export function writeErrorNow(error: ErrorDocument["error"], exitCode: number): void {
  if (!isWritten) writeSync(1, `${escapedJson({ verdict: "error", exitCode, error })}\n`);
  isWritten = true;
}

interface ErrorDocument {
  readonly verdict: "error";
  readonly exitCode: number;
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null };
}

export function errorOf({ exit, code, message, hint }: GauntletError): ErrorDocument {
  return { verdict: "error", exitCode: exit, error: { code, message, hint: hint ?? null } };
}

export const internalError = (message: string): ErrorDocument["error"] => ({ code: "INTERNAL", message, hint: null });
