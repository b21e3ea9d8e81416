import type { Mutation } from "../../../src/reference-gateway/index.ts";

/**
 * What mutations may break besides their own requirements, in general; a declaration adds what only its mutation may break. One defect often affects several: a reply without text is also a
 * missing reply in a stream, and one that is never charged never reaches its cap. Anything else that breaks fails the
 * verification, because something correct is blamed.
 */

/** A gateway that breaks one of these fails ordinary requests, and with them every requirement that they test. */
const ORDINARY_REQUESTS: readonly string[] = [
  "AUTH-1",
  "CHAT-1",
  "CHAT-4",
  "HTTP-FRAMING",
  "HTTP-KEEP-ALIVE",
  "MSG-1",
  "MSG-7",
  "OWN-ANSWER",
  "SAME-REQUEST",
  "SPEND-13",
  "STEADY-SERVICE",
  "STREAM-3",
];
/** Never excused: statements about limits, secrets and other clients' responses. (Requests that are served show an upgrade.) */
const NEVER_BY_FAILED_REQUESTS = /^(?:LIMIT(?!-CHANGE)|RETRY|SEC|NO-SECRETS|HTTP-RETRY-AFTER)/;

/** A gateway that breaks the requirement on the left also breaks those on the right. */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  "AUTH-2": ["AUTH-5", "STREAM-2"],
  "AUTH-3": ["AUTH-5", "STREAM-2"],
  "AUTH-4": ["STREAM-2"],
  "CHAT-2": [
    "BASE-3",
    "CHAT-7",
    "COMPAT-CHAT-REPLY",
    "COMPAT-STRUCTURED",
    "COMPAT-TOOLS",
    "ERR-200-1",
    "OWN-ANSWER",
    "STREAM-4",
  ],
  "CHAT-3": ["COMPAT-REPLY-ID", "COMPAT-USAGE"],
  "CHAT-5": ["BAD-BODY"],
  "CHAT-6": ["BAD-BODY"],
  "CHAT-10": ["BAD-BODY"],
  "COMPAT-CHAT-FINISH": ["COMPAT-TOOLS"],
  "COMPAT-CHAT-REPLY": ["COMPAT-TOOL-RESULT", "COMPAT-TOOLS"],
  "COMPAT-FRAMING": [
    "COMPAT-CHAT-CHUNKS",
    "COMPAT-CHAT-DONE",
    "COMPAT-CHAT-FINISH",
    "COMPAT-CHAT-USAGE",
    "COMPAT-REPLY-ID",
    "COMPAT-TOOLS",
  ],
  "COMPAT-MSG-EVENTS": ["COMPAT-FRAMING", "COMPAT-STREAM-ERROR", "COMPAT-TOOLS"],
  "COMPAT-MSG-REPLY": ["COMPAT-TOOLS"],
  "ERR-401-INVALID": ["STREAM-2"],
  "ERR-401-REVOKED": ["STREAM-2"],
  "ERR-402-CREDITS": ["ERR-HDR-1", "STREAM-2"],
  "ERR-402-QUOTA": ["ERR-HDR-1", "SPEND-5", "SPEND-12", "STREAM-2"],
  "ERR-404-MODEL": ["STREAM-2"],
  "ERR-429-BUDGET": ["ERR-HDR-1", "SPEND-12", "STREAM-2"],
  "ERR-429-CONC": ["LIMIT-2", "STREAM-2"],
  "ERR-429-RATE": ["LIMIT-2", "LIMIT-5", "STREAM-2"],
  "ERR-BODY-1": ["ERR-BODY-2"],
  "ERR-BODY-2": ["COMPAT-CONTENT-TYPE", "COMPAT-ERROR-BODY"],
  "HTTP-CODING": ["JSON-TEXT", "JSON-UTF8"],
  "JSON-TEXT": [
    "BASE-3",
    "CHAT-7",
    "COMPAT-CHAT-REPLY",
    "COMPAT-REPLY-ID",
    "COMPAT-TOOLS",
    "COMPAT-USAGE",
    "ERR-200-1",
    "ERR-BODY-2",
    "HTTP-CODING",
    "JSON-UTF8",
    "STREAM-4",
    "TEXT-INTACT",
  ],
  "JSON-UTF8": ["ERR-200-1", "HTTP-CODING", "JSON-TEXT", "UPSTREAM-REPLY"],
  "LEDGER-ONCE": ["LEDGER-COST"],
  "LEDGER-TOKENS": ["LEDGER-COST", "LEDGER-USAGE"],
  "LIMIT-2": ["LIMIT-CHANGE"],
  "LIMIT-CONC-1": ["LIMIT-2"],
  "LIMIT-CONC-2": ["LIMIT-1", "LIMIT-2", "LIMIT-5", "LIMIT-CHANGE", "LIMIT-CONC-1", "LIMIT-CONC-3", "ERR-429-CONC"],
  "LIMIT-CONC-4": ["LIMIT-CONC-5", "LIMIT-CONC-6"],
  "LIMIT-CONC-5": ["LIMIT-CONC-4"],
  "LIMIT-RATE-1": ["LIMIT-2"],
  "LIMIT-RATE-2": ["ERR-429-RATE", "LIMIT-1", "LIMIT-2", "LIMIT-5", "LIMIT-CHANGE", "LIMIT-RATE-1", "LIMIT-RATE-7"],
  "LIMIT-RATE-3": ["LIMIT-CHANGE"],
  "MODELS-1": ["COMPAT-MODELS", "MODELS-3", "MODELS-4"],
  "MODELS-2": ["COMPAT-MODELS"],
  "MODELS-3": ["COMPAT-MODELS"],
  "MSG-2": ["BASE-3", "COMPAT-MSG-REPLY", "COMPAT-STRUCTURED", "COMPAT-TOOLS", "ERR-200-1", "OWN-ANSWER", "STREAM-4"],
  "MSG-3": ["COMPAT-USAGE"],
  "MSG-5": ["BAD-BODY"],
  "MSG-9": ["BAD-BODY"],
  "OWN-ANSWER": ["TEXT-INTACT"],
  "SPEND-1": ["LEDGER-COST", "LEDGER-LAG"],
  "SPEND-12": ["LEDGER-COST", "SPEND-1", "SPEND-5", "SPEND-6"],
  "STREAM-1": [
    "COMPAT-CHAT-DONE",
    "COMPAT-CHAT-USAGE",
    "COMPAT-CONTENT-TYPE",
    "COMPAT-FRAMING",
    "COMPAT-TOOLS",
    "SAME-REQUEST",
    "TEXT-INTACT",
  ],
  "STREAM-4": [
    "COMPAT-CHAT-DONE",
    "COMPAT-CHAT-FINISH",
    "COMPAT-CHAT-USAGE",
    "COMPAT-STRUCTURED",
    "COMPAT-TOOLS",
    "STREAM-3",
    "TEXT-INTACT",
  ],
  "TEXT-INTACT": ["OWN-ANSWER", "UPSTREAM-REPLY"],
  // A gateway that admits more than it counts reports other remaining tokens, too.
  "TOKENS-ENFORCED": ["TOKENS-AT-ONCE", "TOKENS-REMAINING"],
  "UPSTREAM-USAGE": ["LEDGER-USAGE"],
};

/** An unusable 2xx breaks whatever its request was testing, as a rejection would. */
const UNUSABLE_REPLY = /^reply\./;

/** A mutation that moves a refusal into a stream that began with 200. */
const REFUSED_LATE = /inside-stream/;

/** A mutation that sends a 5xx because of the request, whatever requirement covers the expected response. */
const SERVER_ERROR = /[.-]5\d\d|upstream-error/;

/** @returns requirements that may break with a mutation, except its own. */
export function mayBreak(mutation: Mutation | undefined, all: readonly string[]): ReadonlySet<string> {
  const { name = "", breaks = [], mayBreak: declared = [] } = mutation ?? {};
  const failsOrdinaryRequests =
    UNUSABLE_REPLY.test(name) || breaks.some((requirement) => ORDINARY_REQUESTS.includes(requirement));
  return new Set([
    ...declared,
    ...breaks.flatMap((requirement) => FOLLOWS[requirement] ?? []),
    ...(REFUSED_LATE.test(name) ? ["REFUSED-IN-TIME"] : []),
    ...(SERVER_ERROR.test(name) ? ["HTTP-SERVER-ERROR"] : []),
    ...(failsOrdinaryRequests ? all.filter((requirement) => !NEVER_BY_FAILED_REQUESTS.test(requirement)) : []),
  ]);
}
