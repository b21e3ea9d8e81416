import { classify, isLimitReason } from "../../dialects/index.ts";
import type { LoadExchange } from "../../http/load-client/index.ts";
import type { Outcome } from "../../judging/index.ts";
import type { ReadReason, ResponseParts } from "./read-reason.ts";

export interface RequestOutcome {
  readonly outcome: Outcome;
  /**
   * The named reason of a denial, the kind of failure (`500`, `reset`, `deadline`, `cut stream`), or the defect of an invalid 2xx reply.
   */
  readonly what: string;
}

const REQUEST_TIMEOUT = 408;

/** An error item in a stream that ended normally. */
export const ERROR_IN_STREAM = "error in the stream";

/** Whether the content of the response made the request fail, not its timing. A busy machine does not change this. */
export function isStatedFailure(what: string): boolean {
  return what === ERROR_IN_STREAM || (/^\d{3}$/.test(what) && what !== `${REQUEST_TIMEOUT}`);
}

const ADMITTED: RequestOutcome = { outcome: "admitted", what: "" };

/** What is needed of a finished request, whichever engine sent it. */
export type EndedExchange = ResponseParts &
  Pick<LoadExchange, "ending" | "defect"> & {
    readonly prepared: Pick<LoadExchange["prepared"], "stream">;
    readonly scanner?: { readonly error: boolean } | undefined;
  };

/**
 * Classifies a request by its status, its framing, and the content of a 2xx reply. A stream that has an error item or is
 * truncated is `unfinished`; a 2xx reply that no client could use is `invalid`.
 *
 * @param read reads the named reason in the target's format.
 */
export function outcomeOf(exchange: EndedExchange, read: ReadReason): RequestOutcome {
  const { status, ending, prepared, scanner, defect } = exchange;
  const served = status >= 200 && status < 300;
  if (ending === "complete" && served) {
    if (defect !== undefined) return { outcome: "invalid", what: defect };
    return scanner?.error === true ? { outcome: "unfinished", what: ERROR_IN_STREAM } : ADMITTED;
  }
  if (served && prepared.stream) return { outcome: "unfinished", what: ending === "reset" ? "cut stream" : ending };
  if (ending !== "complete") return { outcome: "failed", what: served && ending === "reset" ? "cut reply" : ending };
  const reason = read(exchange);
  // A contract may use another status for a limit, even a server error.
  if (reason !== undefined && isLimitReason(reason)) return { outcome: "denied", what: reason };
  // The server timed out waiting for a request on an idle connection: nobody denied this request.
  if (status === REQUEST_TIMEOUT) return { outcome: "failed", what: `${status}` };
  const classified = classify({ status, reason, complete: true });
  if (classified.kind === "denial") return { outcome: "denied", what: reason ?? `${status}` };
  return { outcome: "failed", what: `${status}` };
}
