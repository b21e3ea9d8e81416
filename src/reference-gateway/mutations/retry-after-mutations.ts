import { loadMutation, type Mutation, mutation } from "../change.ts";
import { body, setHeader } from "../edits/answer-edits.ts";
import { put } from "../edits/json-edits.ts";
import { always, onChat, onMessages, reused, secondKey, streaming, type When } from "../edits/when.ts";
import { type Apply, all, onDenial, onServed, wrap } from "../edits/wrap.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { Reason, Refusal } from "../pipeline/refusal.ts";

const RATE: Reason = "rate_limit_exceeded";
const SLOTS: Reason = "concurrency_limit_exceeded";

type Hint = string | undefined;

/** Changes the hint of one kind of denial. */
function hint(reason: Reason, edit: (value: Hint, refused: Refusal, call: Call) => Hint, when: When = always): Apply {
  return wrap("retryAfter", (next) => (refused, call) => {
    const value = next(refused, call);
    return refused.reason === reason && when(call) ? edit(value, refused, call) : value;
  });
}

const seconds = (value: Hint) => Number(value ?? 1);
const FORM = ["LIMIT-RATE-5"];
const MISSING = ["LIMIT-RATE-4", "LIMIT-RATE-5"];

/** A defect of the hint's form, on rate denials. */
const form = (
  name: string,
  summary: string,
  edit: (value: Hint, refused: Refusal) => Hint,
  more: readonly string[] = [],
): Mutation => loadMutation(`retry-after.${name}`, [...FORM, ...more], summary, hint(RATE, edit));

/** A hint that no recipient can read, by the standard. */
const malformed = (name: string, summary: string, edit: (value: Hint, refused: Refusal) => Hint): Mutation =>
  form(name, summary, edit, ["HTTP-RETRY-AFTER-FORM"]);

/** When to come back, as the gateway tells it. */
export const RETRY_AFTER_MUTATIONS: readonly Mutation[] = [
  loadMutation(
    "retry-after.missing",
    MISSING,
    "Rate denials have no Retry-After.",
    hint(RATE, () => undefined),
  ),
  loadMutation(
    "retry-after.half-on-messages",
    ["LIMIT-RATE-6"],
    "On the messages endpoint the hint is half of the wait.",
    hint(RATE, (value) => String(Math.ceil(seconds(value) / 2)), onMessages),
  ),
  loadMutation(
    "retry-after.missing-on-messages",
    MISSING,
    "Rate denials on the messages endpoint have no Retry-After.",
    hint(RATE, () => undefined, onMessages),
  ),
  loadMutation(
    "retry-after.missing-on-stream",
    MISSING,
    "Rate denials of streams have no Retry-After.",
    hint(RATE, () => undefined, streaming),
  ),
  loadMutation(
    "retry-after.missing-for-second-key",
    MISSING,
    "Rate denials of an account's second key have no Retry-After.",
    hint(RATE, () => undefined, secondKey),
  ),
  loadMutation(
    "retry-after.missing-on-reused-connections",
    MISSING,
    "Rate denials on a connection that was used before have no Retry-After.",
    hint(RATE, () => undefined, reused),
  ),
  loadMutation(
    "retry-after.in-body-only",
    MISSING,
    "The wait of rate denials stands in the message instead of the header.",
    all(
      hint(RATE, () => undefined),
      onDenial(RATE, always, body(put("error.message", "Rate limit exceeded. Try again in 12 seconds."))),
    ),
  ),
  loadMutation(
    "retry-after.renamed",
    MISSING,
    "The hint of rate denials has a prefix before its name.",
    onDenial(RATE, always, (answer) => ({
      ...answer,
      headers: answer.headers.map(([name, value]) => [
        name === "Retry-After" ? "llm-provider-Retry-After" : name,
        value,
      ]),
    })),
  ),
  form("zero", "The hint is 0.", () => "0", ["LIMIT-RATE-6"]),
  malformed("negative", "The hint is negative.", (value) => `-${seconds(value)}`),
  malformed("fraction", "The hint has a fraction.", (_value, { waitMs = 0 }) => (waitMs / 1_000).toFixed(3)),
  malformed("word", "The hint is a word.", () => "soon"),
  malformed("empty", "The hint is empty.", () => ""),
  malformed("with-unit", "The hint has a unit behind the number.", (value) => `${seconds(value)}s`),
  malformed("iso-date", "The hint is a date in ISO form.", (value) =>
    new Date(Date.now() + seconds(value) * 1_000).toISOString(),
  ),
  form("epoch-seconds", "The hint is the Unix time of the next try.", (value) =>
    String(Math.ceil(Date.now() / 1_000) + seconds(value)),
  ),
  form("epoch-milliseconds", "The hint is the Unix time of the next try in milliseconds.", (value) =>
    String(Date.now() + seconds(value) * 1_000),
  ),
  form("milliseconds", "The hint is in milliseconds.", (value) => String(seconds(value) * 1_000)),
  malformed(
    "minutes",
    "The hint is a duration with minutes and seconds.",
    (value) => `00:${String(seconds(value)).padStart(2, "0")}`,
  ),
  form("past-date", "The hint is a date that has passed.", () => new Date(Date.now() - 30_000).toUTCString(), [
    "LIMIT-RATE-6",
  ]),
  malformed("local-date", "The hint is a date without its time zone.", (value) =>
    new Date(Date.now() + seconds(value) * 1_000).toUTCString().replace(" GMT", ""),
  ),
  malformed("not-a-number", "The hint is NaN.", () => "NaN"),
  form("hour", "The hint is an hour, whatever the window.", () => "3600"),
  loadMutation(
    "retry-after.two-values",
    [...FORM, "HTTP-RETRY-AFTER-FORM"],
    "Rate denials carry two different hints.",
    onDenial(RATE, always, (answer) => ({ ...answer, headers: [...answer.headers, ["Retry-After", "1"]] })),
  ),
  loadMutation(
    "retry-after.always-one",
    ["LIMIT-RATE-6"],
    "The hint is 1, whatever the window.",
    hint(RATE, () => "1"),
  ),
  loadMutation(
    "retry-after.half",
    ["LIMIT-RATE-6"],
    "The hint is half of the real wait.",
    hint(RATE, (value) => String(Math.max(1, Math.floor(seconds(value) / 2)))),
  ),
  loadMutation(
    "retry-after.rounded-down",
    ["LIMIT-RATE-6"],
    "The hint is rounded down, so that whoever obeys is early.",
    hint(RATE, (_value, { waitMs = 0 }) => String(Math.max(1, Math.floor(waitMs / 1_000)))),
  ),
  loadMutation(
    "retry-after.next-clock-minute",
    ["LIMIT-RATE-6"],
    "The hint counts to the next full minute, which the window does not.",
    hint(RATE, () => String(60 - (Math.floor(Date.now() / 1_000) % 60))),
  ),
  loadMutation(
    "retry-after.short-for-second-key",
    ["LIMIT-RATE-6"],
    "The hint for an account's second key is 1, whatever the window.",
    hint(RATE, () => "1", secondKey),
  ),
  loadMutation(
    "retry-after.concurrency-missing",
    ["LIMIT-CONC-6"],
    "Concurrency denials have no Retry-After.",
    hint(SLOTS, () => undefined),
  ),
  loadMutation(
    "retry-after.concurrency-missing-on-stream",
    ["LIMIT-CONC-6"],
    "Concurrency denials of streams have no Retry-After.",
    hint(SLOTS, () => undefined, streaming),
  ),
  loadMutation(
    "retry-after.concurrency-missing-on-messages",
    ["LIMIT-CONC-6"],
    "Concurrency denials on the messages endpoint have no Retry-After.",
    hint(SLOTS, () => undefined, onMessages),
  ),
  loadMutation(
    "retry-after.concurrency-zero",
    ["LIMIT-CONC-6"],
    "The hint of concurrency denials is 0.",
    hint(SLOTS, () => "0"),
  ),
  loadMutation(
    "retry-after.concurrency-negative",
    ["LIMIT-CONC-6"],
    "The hint of concurrency denials is negative.",
    hint(SLOTS, () => "-1"),
  ),
  loadMutation(
    "retry-after.concurrency-milliseconds",
    ["LIMIT-CONC-6"],
    "The hint of concurrency denials is in milliseconds.",
    hint(SLOTS, (value) => String(seconds(value) * 1_000)),
  ),
  loadMutation(
    "retry-after.concurrency-word",
    ["LIMIT-CONC-6"],
    "The hint of concurrency denials is a word.",
    hint(SLOTS, () => "later"),
  ),
  mutation(
    "retry-after.on-success",
    ["HTTP-RETRY-AFTER"],
    "Served requests of the chat dialect carry a hint.",
    onServed(onChat, setHeader("Retry-After", "1")),
  ),
];
