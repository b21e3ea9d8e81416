import { loadGrid, loadMutation, type Mutation, mutation } from "../../change.ts";
import { clockAhead, dateIn } from "../../edits/clock-edits.ts";
import { put } from "../../edits/replies/json-edits.ts";
import { body, setHeader } from "../../edits/replies/response-edits.ts";
import { always, onChat, onMessages, reused, secondKey, streaming, type When } from "../../edits/when.ts";
import { type Apply, all, onDenial, onServed, wrap } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import type { Reason, Refusal } from "../../pipeline/refusal.ts";

const RATE: Reason = "rate_limit_exceeded";
const CONCURRENCY: Reason = "concurrency_limit_exceeded";

type RetryAfter = string | undefined;
type Edit = (value: RetryAfter, refused: Refusal, call: Call) => RetryAfter;

/** Changes the Retry-After of one kind of denial. */
function changeRetryAfter(reason: Reason, edit: Edit, when: When = always): Apply {
  return wrap("retryAfter", (next) => (refused, call) => {
    const value = next(refused, call);
    return refused.reason === reason && when(call) ? edit(value, refused, call) : value;
  });
}

const seconds = (value: RetryAfter) => Number(value ?? 1);
const FORM = ["LIMIT-RATE-5"];
const MISSING = ["LIMIT-RATE-4", "LIMIT-RATE-5"];

/** Invalid according to the standard. */
const MALFORMED = [...FORM, "HTTP-RETRY-AFTER-FORM"];

const onRateDenial = (edit: Edit): Apply => changeRetryAfter(RATE, edit);

/** The Retry-After that the gateway sends. */
export const RETRY_AFTER_MUTATIONS: readonly Mutation[] = [
  ...loadGrid(MISSING, (when: When) => changeRetryAfter(RATE, () => undefined, when), {
    "retry-after.missing": { summary: "Rate denials have no Retry-After.", with: always },
    "retry-after.missing-on-messages": {
      summary: "Rate denials on the messages endpoint have no Retry-After.",
      with: onMessages,
    },
    "retry-after.missing-on-stream": { summary: "Rate denials of streams have no Retry-After.", with: streaming },
    "retry-after.missing-for-second-key": {
      summary: "Rate denials of an account's second key have no Retry-After.",
      with: secondKey,
    },
    "retry-after.missing-on-reused-connections": {
      summary: "Rate denials on a reused connection have no Retry-After.",
      with: reused,
    },
  }),
  loadMutation("retry-after.half-on-messages", {
    breaks: ["LIMIT-RATE-6"],
    summary: "On the messages endpoint Retry-After is half of the real wait.",
    apply: changeRetryAfter(RATE, (value) => String(Math.ceil(seconds(value) / 2)), onMessages),
  }),
  loadMutation("retry-after.in-body-only", {
    breaks: MISSING,
    summary: "The wait is in the message of rate denials instead of the header.",
    apply: all(
      changeRetryAfter(RATE, () => undefined),
      onDenial(RATE, always, body(put("error.message", "Rate limit exceeded. Try again in 12 seconds."))),
    ),
  }),
  loadMutation("retry-after.renamed", {
    breaks: MISSING,
    summary: "The Retry-After header of rate denials has a prefixed name.",
    apply: onDenial(RATE, always, (response) => ({
      ...response,
      headers: response.headers.map(([name, value]) => [
        name === "Retry-After" ? "llm-provider-Retry-After" : name,
        value,
      ]),
    })),
  }),
  ...loadGrid(FORM, onRateDenial, {
    "retry-after.zero": { breaks: [...FORM, "LIMIT-RATE-6"], summary: "Retry-After is 0.", with: () => "0" },
    "retry-after.epoch-seconds": {
      summary: "Retry-After is the Unix time of the next allowed request.",
      with: (value) => String(Math.ceil(Date.now() / 1_000) + seconds(value)),
    },
    "retry-after.epoch-milliseconds": {
      summary: "Retry-After is the Unix time of the next allowed request in milliseconds.",
      with: (value) => String(Date.now() + seconds(value) * 1_000),
    },
    "retry-after.milliseconds": {
      summary: "Retry-After is in milliseconds.",
      with: (value) => String(seconds(value) * 1_000),
    },
    "retry-after.past-date": {
      breaks: [...FORM, "LIMIT-RATE-6"],
      summary: "Retry-After is a date in the past.",
      with: () => new Date(Date.now() - 30_000).toUTCString(),
    },
    "retry-after.hour": { summary: "Retry-After is always an hour.", with: () => "3600" },
  }),
  ...loadGrid(MALFORMED, onRateDenial, {
    "retry-after.negative": { summary: "Retry-After is negative.", with: (value) => `-${seconds(value)}` },
    "retry-after.fraction": {
      summary: "Retry-After has a fraction.",
      with: (_value, { waitMs = 0 }) => (waitMs / 1_000).toFixed(3),
    },
    "retry-after.word": { summary: "Retry-After is a word.", with: () => "soon" },
    "retry-after.empty": { summary: "Retry-After is empty.", with: () => "" },
    "retry-after.with-unit": {
      summary: "Retry-After has a unit after the number.",
      with: (value) => `${seconds(value)}s`,
    },
    "retry-after.iso-date": {
      summary: "Retry-After is an ISO 8601 date.",
      with: (value) => new Date(Date.now() + seconds(value) * 1_000).toISOString(),
    },
    "retry-after.minutes": {
      summary: "Retry-After is a duration in minutes and seconds.",
      with: (value) => `00:${String(seconds(value)).padStart(2, "0")}`,
    },
    "retry-after.local-date": {
      summary: "Retry-After is a date without a time zone.",
      with: (value) => new Date(Date.now() + seconds(value) * 1_000).toUTCString().replace(" GMT", ""),
    },
    "retry-after.not-a-number": { summary: "Retry-After is NaN.", with: () => "NaN" },
  }),
  loadMutation("retry-after.two-values", {
    breaks: MALFORMED,
    summary: "Rate denials carry two different Retry-After headers.",
    apply: onDenial(RATE, always, (response) => ({
      ...response,
      headers: [...response.headers, ["Retry-After", "1"]],
    })),
  }),
  ...loadGrid(["LIMIT-RATE-6"], onRateDenial, {
    "retry-after.always-one": { summary: "Retry-After is always 1.", with: () => "1" },
    "retry-after.half": {
      summary: "Retry-After is half of the real wait.",
      with: (value) => String(Math.max(1, Math.floor(seconds(value) / 2))),
    },
    "retry-after.rounded-down": {
      summary: "Retry-After is rounded down, so that a compliant client retries early.",
      with: (_value, { waitMs = 0 }) => String(Math.max(1, Math.floor(waitMs / 1_000))),
    },
    "retry-after.next-clock-minute": {
      summary: "Retry-After points to the next full minute, but the window does not end there.",
      with: () => String(60 - (Math.floor(Date.now() / 1_000) % 60)),
    },
  }),
  loadMutation("retry-after.half-date-clock-ahead", {
    breaks: ["LIMIT-RATE-6"],
    summary: "Retry-After is a date after half of the real wait, and the gateway's clock is 90 s fast.",
    apply: all(
      changeRetryAfter(RATE, (value) => dateIn(Math.max(1, Math.floor(seconds(value) / 2)), 90)),
      clockAhead(90),
    ),
  }),
  loadMutation("retry-after.short-for-second-key", {
    breaks: ["LIMIT-RATE-6"],
    summary: "Retry-After for an account's second key is always 1.",
    apply: changeRetryAfter(RATE, () => "1", secondKey),
  }),
  ...loadGrid(["LIMIT-CONC-6"], (edit: Edit) => changeRetryAfter(CONCURRENCY, edit), {
    "retry-after.concurrency-missing": { summary: "Concurrency denials have no Retry-After.", with: () => undefined },
    "retry-after.concurrency-zero": { summary: "Retry-After of concurrency denials is 0.", with: () => "0" },
    "retry-after.concurrency-negative": {
      breaks: ["LIMIT-CONC-6", "HTTP-RETRY-AFTER-FORM"],
      summary: "Retry-After of concurrency denials is negative.",
      with: () => "-1",
    },
    "retry-after.concurrency-milliseconds": {
      summary: "Retry-After of concurrency denials is in milliseconds.",
      with: (value) => String(seconds(value) * 1_000),
    },
    "retry-after.concurrency-word": {
      breaks: ["LIMIT-CONC-6", "HTTP-RETRY-AFTER-FORM"],
      summary: "Retry-After of concurrency denials is a word.",
      with: () => "later",
    },
  }),
  ...loadGrid(["LIMIT-CONC-6"], (when: When) => changeRetryAfter(CONCURRENCY, () => undefined, when), {
    "retry-after.concurrency-missing-on-stream": {
      summary: "Concurrency denials of streams have no Retry-After.",
      with: streaming,
    },
    "retry-after.concurrency-missing-on-messages": {
      summary: "Concurrency denials on the messages endpoint have no Retry-After.",
      with: onMessages,
    },
  }),
  mutation("retry-after.on-success", {
    breaks: ["HTTP-RETRY-AFTER"],
    summary: "Successful chat responses have Retry-After.",
    apply: onServed(onChat, setHeader("Retry-After", "1")),
  }),
];
