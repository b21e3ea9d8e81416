import { excerptOf } from "../../core/index.ts";
import { checkReply, checkStream, hasTooManyValues, isLimitReason, type ReplyDefect } from "../../dialects/index.ts";
import type { Observation } from "../../judging/index.ts";
import type { Response } from "./response.ts";

/** Made once for each response: folds over a limit compare every response with every other. */
const known = new WeakMap<Response, Observation>();

/**
 * Converts a check's response for code that is shared with load and is about limits. Here, unlike in a load, a 2xx that holds an
 * error or no text counts as admitted: the request was not denied, and other checks judge how it failed.
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

function outcomeOf(response: Response): Pick<Observation, "outcome" | "what"> {
  const { status, complete, reason, exchange } = response;
  if (status === undefined) return { outcome: "failed", what: exchange.ending.kind };
  if (status >= 200 && status < 300) {
    if (!complete) return { outcome: "unfinished", what: exchange.ending.kind };
    const defect = findReplyDefect(response);
    return defect === undefined ? { outcome: "admitted", what: "" } : { outcome: "invalid", what: defect };
  }
  // A contract may use another status for a limit, even a server error.
  if (status >= 400 && (status < 500 || isLimitReason(reason)))
    return { outcome: "denied", what: reason === undefined ? `${status}` : excerptOf(reason, MAX_REASON_CHARACTERS) };
  return { outcome: "failed", what: `${status}` };
}

/** A run keeps its observations, and a header may be a quarter of a megabyte long. */
const MAX_REASON_CHARACTERS = 200;

/** Defects of replies that a model or a refusal may cause, and that say nothing about whether the request was admitted. */
const OF_ADMITTED: readonly ReplyDefect[] = ["empty text", "an error with a 2xx status"];

/** Why a complete 2xx response is not a reply; `undefined` if it is one, or if no reply was requested. */
function findReplyDefect(response: Response): ReplyDefect | undefined {
  const { endpoint, mode } = response.requested;
  if (endpoint === "models") return undefined;
  const { text } = response;
  // The readers of a response have bounds, and find no reply beyond them.
  if (hasTooManyValues(text)) {
    if (mode !== "streaming") return "not JSON";
    return response.stream.outputs > 0 ? undefined : "a stream without output";
  }
  const { defect } = mode === "streaming" ? checkStream(endpoint, text, false) : checkReply(endpoint, text);
  return defect === undefined || OF_ADMITTED.includes(defect) ? undefined : defect;
}
