import { classify } from "../wire/index.ts";
import type { LoadExchange } from "./http/load-exchange.ts";

/** What a request came to: one class, one histogram. */
export type LoadOutcome = "admitted" | "denied" | "failed" | "unfinished";

export interface Came {
  readonly outcome: LoadOutcome;
  /** Named reason of a denial, or how it failed: `500`, `reset`, `deadline`, `cut stream`. */
  readonly what: string;
}

const ADMITTED: Came = { outcome: "admitted", what: "" };

/**
 * Tells what a request came to, from its status and its framing; a stream that holds an error item, or breaks off, was
 * admitted and did not finish.
 *
 * @param reasonPattern finds the reason header of the target.
 */
export function outcomeOf(exchange: LoadExchange, reasonPattern: RegExp): Came {
  const { status, ending, shot, scanner } = exchange;
  const served = status >= 200 && status < 300;
  if (ending === "complete" && served) {
    return scanner?.error === true ? { outcome: "unfinished", what: "error in the stream" } : ADMITTED;
  }
  if (served && shot.stream) return { outcome: "unfinished", what: ending === "reset" ? "cut stream" : ending };
  if (ending !== "complete") return { outcome: "failed", what: served && ending === "reset" ? "cut reply" : ending };
  const reason = exchange.headerOf(reasonPattern);
  const came = classify({ status, reason, complete: true });
  if (came.kind === "denial") return { outcome: "denied", what: reason ?? `${status}` };
  return { outcome: "failed", what: `${status}` };
}
