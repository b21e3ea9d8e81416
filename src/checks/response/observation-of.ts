import { isLimitReason } from "../../dialects/index.ts";
import type { Observation } from "../../judging/index.ts";
import type { Response } from "./response.ts";

/** Made once for each response: folds over a limit compare every response with every other. */
const known = new WeakMap<Response, Observation>();

/**
 * Converts a check's response for code that is shared with load and is about limits. Here, unlike in a load, every 2xx counts as
 * admitted, whatever its body: the outcome distinguishes only complete from truncated. Other checks judge the content.
 */
export function observationOf(response: Response): Observation {
  const made = known.get(response) ?? observe(response);
  known.set(response, made);
  return made;
}

function observe(response: Response): Observation {
  const { exchange, requested, status } = response;
  const { dueUs, sentUs = dueUs, headersUs, endUs } = exchange.timeline;
  return {
    phase: "checks",
    role: requested.intent,
    dialect: requested.endpoint === "messages" ? "messages" : "chat",
    stream: requested.mode === "streaming",
    key: exchange.key ?? "",
    ...outcomeOf(response),
    status,
    dueUs,
    sentUs,
    connectUs: undefined,
    headUs: headersUs,
    bodyUs: exchange.response?.body.pieces[0]?.[0],
    firstTokenUs: undefined,
    endUs,
    longestGapUs: undefined,
    tokens: undefined,
    retryAfter: response.header("retry-after"),
    retryAfterWaitMs: response.retryAfterWaitMs,
    exchange: response.id,
    flaw: undefined,
  };
}

function outcomeOf({ status, complete, reason, exchange }: Response): Pick<Observation, "outcome" | "what"> {
  if (status === undefined) return { outcome: "failed", what: exchange.ending.kind };
  if (status >= 200 && status < 300)
    return complete ? { outcome: "admitted", what: "" } : { outcome: "unfinished", what: exchange.ending.kind };
  // A contract may use another status for a limit, even a server error.
  if (status >= 400 && (status < 500 || isLimitReason(reason)))
    return { outcome: "denied", what: reason ?? `${status}` };
  return { outcome: "failed", what: `${status}` };
}
