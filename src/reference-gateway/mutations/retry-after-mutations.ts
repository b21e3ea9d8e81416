import { loadMutation, type Mutation, mutation } from "../change.ts";
import { clockAhead, dateIn } from "../edits/clock-edits.ts";
import { put } from "../edits/replies/json-edits.ts";
import { body, setHeader } from "../edits/replies/response-edits.ts";
import { always, onChat, onMessages, reused, secondKey, streaming, type When } from "../edits/when.ts";
import { type Apply, all, onDenial, onServed, wrap } from "../edits/wrap.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { Reason, Refusal } from "../pipeline/refusal.ts";

const RATE: Reason = "rate_limit_exceeded";
const CONCURRENCY: Reason = "concurrency_limit_exceeded";

type RetryAfter = string | undefined;

/** Changes the Retry-After of one kind of denial. */
function changeRetryAfter(
  reason: Reason,
  edit: (value: RetryAfter, refused: Refusal, call: Call) => RetryAfter,
  when: When = always,
): Apply {
  return wrap("retryAfter", (next) => (refused, call) => {
    const value = next(refused, call);
    return refused.reason === reason && when(call) ? edit(value, refused, call) : value;
  });
}

const seconds = (value: RetryAfter) => Number(value ?? 1);
const FORM = ["LIMIT-RATE-5"];
const MISSING = ["LIMIT-RATE-4", "LIMIT-RATE-5"];

/** A malformed Retry-After, on rate denials. */
const form = (
  name: string,
  summary: string,
  edit: (value: RetryAfter, refused: Refusal) => RetryAfter,
  more: readonly string[] = [],
): Mutation => loadMutation(`retry-after.${name}`, [...FORM, ...more], summary, changeRetryAfter(RATE, edit));

/** An invalid Retry-After, according to the standard. */
const malformed = (
  name: string,
  summary: string,
  edit: (value: RetryAfter, refused: Refusal) => RetryAfter,
): Mutation => form(name, summary, edit, ["HTTP-RETRY-AFTER-FORM"]);

/** The Retry-After that the gateway sends. */
export const RETRY_AFTER_MUTATIONS: readonly Mutation[] = [
  loadMutation(
    "retry-after.missing",
    MISSING,
    "Rate denials have no Retry-After.",
    changeRetryAfter(RATE, () => undefined),
  ),
  loadMutation(
    "retry-after.half-on-messages",
    ["LIMIT-RATE-6"],
    "On the messages endpoint Retry-After is half of the real wait.",
    changeRetryAfter(RATE, (value) => String(Math.ceil(seconds(value) / 2)), onMessages),
  ),
  loadMutation(
    "retry-after.missing-on-messages",
    MISSING,
    "Rate denials on the messages endpoint have no Retry-After.",
    changeRetryAfter(RATE, () => undefined, onMessages),
  ),
  loadMutation(
    "retry-after.missing-on-stream",
    MISSING,
    "Rate denials of streams have no Retry-After.",
    changeRetryAfter(RATE, () => undefined, streaming),
  ),
  loadMutation(
    "retry-after.missing-for-second-key",
    MISSING,
    "Rate denials of an account's second key have no Retry-After.",
    changeRetryAfter(RATE, () => undefined, secondKey),
  ),
  loadMutation(
    "retry-after.missing-on-reused-connections",
    MISSING,
    "Rate denials on a reused connection have no Retry-After.",
    changeRetryAfter(RATE, () => undefined, reused),
  ),
  loadMutation(
    "retry-after.in-body-only",
    MISSING,
    "The wait is in the message of rate denials instead of the header.",
    all(
      changeRetryAfter(RATE, () => undefined),
      onDenial(RATE, always, body(put("error.message", "Rate limit exceeded. Try again in 12 seconds."))),
    ),
  ),
  loadMutation(
    "retry-after.renamed",
    MISSING,
    "The Retry-After header of rate denials has a prefixed name.",
    onDenial(RATE, always, (response) => ({
      ...response,
      headers: response.headers.map(([name, value]) => [
        name === "Retry-After" ? "llm-provider-Retry-After" : name,
        value,
      ]),
    })),
  ),
  form("zero", "Retry-After is 0.", () => "0", ["LIMIT-RATE-6"]),
  malformed("negative", "Retry-After is negative.", (value) => `-${seconds(value)}`),
  malformed("fraction", "Retry-After has a fraction.", (_value, { waitMs = 0 }) => (waitMs / 1_000).toFixed(3)),
  malformed("word", "Retry-After is a word.", () => "soon"),
  malformed("empty", "Retry-After is empty.", () => ""),
  malformed("with-unit", "Retry-After has a unit after the number.", (value) => `${seconds(value)}s`),
  malformed("iso-date", "Retry-After is an ISO 8601 date.", (value) =>
    new Date(Date.now() + seconds(value) * 1_000).toISOString(),
  ),
  form("epoch-seconds", "Retry-After is the Unix time of the next allowed request.", (value) =>
    String(Math.ceil(Date.now() / 1_000) + seconds(value)),
  ),
  form("epoch-milliseconds", "Retry-After is the Unix time of the next allowed request in milliseconds.", (value) =>
    String(Date.now() + seconds(value) * 1_000),
  ),
  form("milliseconds", "Retry-After is in milliseconds.", (value) => String(seconds(value) * 1_000)),
  malformed(
    "minutes",
    "Retry-After is a duration in minutes and seconds.",
    (value) => `00:${String(seconds(value)).padStart(2, "0")}`,
  ),
  form("past-date", "Retry-After is a date in the past.", () => new Date(Date.now() - 30_000).toUTCString(), [
    "LIMIT-RATE-6",
  ]),
  malformed("local-date", "Retry-After is a date without a time zone.", (value) =>
    new Date(Date.now() + seconds(value) * 1_000).toUTCString().replace(" GMT", ""),
  ),
  malformed("not-a-number", "Retry-After is NaN.", () => "NaN"),
  form("hour", "Retry-After is always an hour.", () => "3600"),
  loadMutation(
    "retry-after.two-values",
    [...FORM, "HTTP-RETRY-AFTER-FORM"],
    "Rate denials carry two different Retry-After headers.",
    onDenial(RATE, always, (response) => ({ ...response, headers: [...response.headers, ["Retry-After", "1"]] })),
  ),
  loadMutation(
    "retry-after.always-one",
    ["LIMIT-RATE-6"],
    "Retry-After is always 1.",
    changeRetryAfter(RATE, () => "1"),
  ),
  loadMutation(
    "retry-after.half",
    ["LIMIT-RATE-6"],
    "Retry-After is half of the real wait.",
    changeRetryAfter(RATE, (value) => String(Math.max(1, Math.floor(seconds(value) / 2)))),
  ),
  loadMutation(
    "retry-after.half-date-clock-ahead",
    ["LIMIT-RATE-6"],
    "Retry-After is a date after half of the real wait, and the gateway's clock is 90 s fast.",
    all(
      changeRetryAfter(RATE, (value) => dateIn(Math.max(1, Math.floor(seconds(value) / 2)), 90)),
      clockAhead(90),
    ),
  ),
  loadMutation(
    "retry-after.rounded-down",
    ["LIMIT-RATE-6"],
    "Retry-After is rounded down, so that a compliant client retries early.",
    changeRetryAfter(RATE, (_value, { waitMs = 0 }) => String(Math.max(1, Math.floor(waitMs / 1_000)))),
  ),
  loadMutation(
    "retry-after.next-clock-minute",
    ["LIMIT-RATE-6"],
    "Retry-After points to the next full minute, but the window does not end there.",
    changeRetryAfter(RATE, () => String(60 - (Math.floor(Date.now() / 1_000) % 60))),
  ),
  loadMutation(
    "retry-after.short-for-second-key",
    ["LIMIT-RATE-6"],
    "Retry-After for an account's second key is always 1.",
    changeRetryAfter(RATE, () => "1", secondKey),
  ),
  loadMutation(
    "retry-after.concurrency-missing",
    ["LIMIT-CONC-6"],
    "Concurrency denials have no Retry-After.",
    changeRetryAfter(CONCURRENCY, () => undefined),
  ),
  loadMutation(
    "retry-after.concurrency-missing-on-stream",
    ["LIMIT-CONC-6"],
    "Concurrency denials of streams have no Retry-After.",
    changeRetryAfter(CONCURRENCY, () => undefined, streaming),
  ),
  loadMutation(
    "retry-after.concurrency-missing-on-messages",
    ["LIMIT-CONC-6"],
    "Concurrency denials on the messages endpoint have no Retry-After.",
    changeRetryAfter(CONCURRENCY, () => undefined, onMessages),
  ),
  loadMutation(
    "retry-after.concurrency-zero",
    ["LIMIT-CONC-6"],
    "Retry-After of concurrency denials is 0.",
    changeRetryAfter(CONCURRENCY, () => "0"),
  ),
  loadMutation(
    "retry-after.concurrency-negative",
    ["LIMIT-CONC-6"],
    "Retry-After of concurrency denials is negative.",
    changeRetryAfter(CONCURRENCY, () => "-1"),
  ),
  loadMutation(
    "retry-after.concurrency-milliseconds",
    ["LIMIT-CONC-6"],
    "Retry-After of concurrency denials is in milliseconds.",
    changeRetryAfter(CONCURRENCY, (value) => String(seconds(value) * 1_000)),
  ),
  loadMutation(
    "retry-after.concurrency-word",
    ["LIMIT-CONC-6"],
    "Retry-After of concurrency denials is a word.",
    changeRetryAfter(CONCURRENCY, () => "later"),
  ),
  mutation(
    "retry-after.on-success",
    ["HTTP-RETRY-AFTER"],
    "Successful chat responses have Retry-After.",
    onServed(onChat, setHeader("Retry-After", "1")),
  ),
];
