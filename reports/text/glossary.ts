import type { Status } from "../../src/record/index.ts";

/** A word and what it means, in one phrase without a full stop. */
export type Term = readonly [word: string, meaning: string];

/** Words of loads: requests and their outcomes, then their times. `docs/concepts.md` and the reports show the same list. */
export const LOAD_TERMS: readonly Term[] = [
  ["admitted", "a complete 2xx that is a usable reply"],
  ["denied", "a 4xx: the gateway refuses the request; the status and a reason say why"],
  ["failed", "no complete response, or a gateway error: a broken connection, a timeout, a 5xx"],
  ["invalid", "a complete 2xx that no client could use: an HTML page, an error object, no output"],
  ["dropped", "due, but not sent: the load generator had reached its own bound"],
  [
    "in flight",
    "sent, and its response has not ended; requests that will be denied count too, so a peak may exceed the concurrency limit, which counts only admitted requests",
  ],
  ["per second", "divided by the time from the start of a phase to the end of its last response"],
  ["E2E latency", "response time: from the moment at which a request was due to the end of its response"],
  ["service time", "from sending a request to the end of its response"],
  ["TTFT", "time to first token: from sending a request to its first output of any kind"],
  ["ITL", "inter-token latency: the gap between two events of a stream, divided by the tokens per event"],
  ["TPOT", "time per output token after the first: the mean gap of one stream"],
  ["goodput", "the requests that were admitted and met all objectives of the workload"],
];

/** The results of checks. */
export const RESULT_TERMS: Readonly<Record<Status, string>> = {
  pass: "everything that was compared is as expected",
  fail: "a MUST is violated",
  warn: "a SHOULD is violated",
  flaky: "it failed in some rounds, but not in all",
  observed: "the specification is silent; the behaviour is reported and not judged",
  blocked: "what the check needs is missing, such as a key, a model or an account",
  "harness-error":
    "Gauntlet itself failed, or your own suite did (the message then begins with `error in your suite` and the place); the verdict is then ERROR",
  inconclusive: "it could not be decided; the reason is stated",
  "not-applicable": "the gateway does not have the tested feature, or the tested situation did not occur",
};
