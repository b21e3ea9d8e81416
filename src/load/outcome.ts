import { classify } from "../wire/index.ts";
import type { LoadExchange } from "./http/load-exchange.ts";
import type { ReadReason } from "./read-reason.ts";

/** What a request came to: one class, one histogram. */
export type LoadOutcome = "admitted" | "denied" | "failed" | "unfinished";

export interface Came {
  readonly outcome: LoadOutcome;
  /** Named reason of a denial, or how it failed: `500`, `reset`, `deadline`, `cut stream`. */
  readonly what: string;
}

const LIMITS: readonly string[] = ["rate_limit_exceeded", "concurrency_limit_exceeded"];

const ADMITTED: Came = { outcome: "admitted", what: "" };

/**
 * Tells what a request came to, from its status and its framing; a stream that holds an error item, or breaks off, was
 * admitted and did not finish.
 *
 * @param read reads the named reason as the target has it.
 */
export function outcomeOf(exchange: LoadExchange, read: ReadReason): Came {
  const { status, ending, shot, scanner } = exchange;
  const served = status >= 200 && status < 300;
  if (ending === "complete" && served) {
    return scanner?.error === true ? { outcome: "unfinished", what: "error in the stream" } : ADMITTED;
  }
  if (served && shot.stream) return { outcome: "unfinished", what: ending === "reset" ? "cut stream" : ending };
  if (ending !== "complete") return { outcome: "failed", what: served && ending === "reset" ? "cut reply" : ending };
  const reason = read(exchange);
  // A contract may give a limit another status, even one of the server errors.
  if (reason !== undefined && LIMITS.includes(reason)) return { outcome: "denied", what: reason };
  const came = classify({ status, reason, complete: true });
  if (came.kind === "denial") return { outcome: "denied", what: reason ?? `${status}` };
  return { outcome: "failed", what: `${status}` };
}
