import { grid, type Mutation, mutation } from "../../change.ts";
import { insteadOf, status } from "../../edits/replies/response-edits.ts";
import { always, both, nonStreaming, onChat, onMessages, secondKey, streaming, type When } from "../../edits/when.ts";
import { type Apply, onDenial, onRefusal } from "../../edits/wrap.ts";
import { type Reason, requirementsOf } from "../../pipeline/refusal.ts";

const CREDITS = requirementsOf("insufficient_credits");
const QUOTA = requirementsOf("quota_exceeded");
const UNKNOWN_MODEL = requirementsOf("model_not_found");
const RATE = requirementsOf("rate_limit_exceeded");
const CONCURRENCY = requirementsOf("concurrency_limit_exceeded");
const BUDGET = requirementsOf("budget_exhausted");

/** A denial with the right reason and the wrong status. */
const wrongStatus =
  (reason: Reason) =>
  ({ status, when = always }: { readonly status: number; readonly when?: When }): Apply =>
    onRefusal(reason, when, (refused) => ({ ...refused, status }));

/** A denial with the right status and the reason of another. */
const wrongReason =
  (reason: Reason) =>
  ({ reported, when = always }: { readonly reported: string; readonly when?: When }): Apply =>
    onDenial(reason, when, (response) => ({
      ...response,
      headers: response.headers.map(([header, value]) => [header, value === reason ? reported : value]),
    }));

/** Denials with the status or reason of another requirement, or of none. */
export const DENIAL_STATUS_MUTATIONS: readonly Mutation[] = [
  ...grid(CREDITS, wrongStatus("insufficient_credits"), {
    "denial.credits-403": {
      summary: "An exhausted balance gets 403.",
      with: { status: 403 },
      detectedBy: {
        "errors.insufficient-credits[chat,non-streaming]": "ERR-402-CREDITS",
        "errors.denied-in-every-form[empty]": "ERR-402-CREDITS",
      },
    },
    "denial.credits-400-on-stream": {
      breaks: [...CREDITS, "STREAM-2"],
      summary: "An exhausted balance gets 400 for streams.",
      with: { status: 400, when: streaming },
      detectedBy: { "errors.insufficient-credits[chat,streaming]": "ERR-402-CREDITS" },
    },
    "denial.credits-429": {
      summary: "An exhausted balance gets 429.",
      with: { status: 429 },
      detectedBy: { "errors.insufficient-credits[chat,non-streaming]": "ERR-402-CREDITS" },
    },
    "denial.credits-500-for-second-key": {
      summary: "An exhausted balance gets 500 for the account's second key.",
      with: { status: 500, when: secondKey },
    },
  }),
  ...grid([...CREDITS, "ERR-HDR-1"], wrongReason("insufficient_credits"), {
    "denial.credits-as-quota": {
      summary: "An exhausted balance is reported as a spend cap.",
      with: { reported: "quota_exceeded" },
      detectedBy: { "errors.insufficient-credits[chat,non-streaming]": "ERR-402-CREDITS" },
    },
  }),
  ...grid(QUOTA, wrongStatus("quota_exceeded"), {
    "denial.quota-403": {
      breaks: [...QUOTA, "ERR-BODY-1", "ERR-HDR-2"],
      summary: "A spend cap gets 403.",
      with: { status: 403 },
      mayBreak: ["SPEND-7"],
    },
    "denial.quota-429": {
      breaks: [...QUOTA, "ERR-BODY-1", "ERR-HDR-2"],
      summary: "A spend cap gets 429.",
      with: { status: 429 },
      mayBreak: ["SPEND-7"],
    },
    "denial.quota-400-on-messages": {
      summary: "A spend cap gets 400 on the messages endpoint.",
      with: { status: 400, when: onMessages },
      mayBreak: ["SPEND-7"],
    },
  }),
  ...grid([...QUOTA, "ERR-HDR-1"], wrongReason("quota_exceeded"), {
    "denial.quota-as-credits": {
      summary: "A spend cap is reported as an exhausted balance.",
      with: { reported: "insufficient_credits" },
    },
    "denial.quota-as-budget-on-stream": {
      breaks: [...QUOTA, "ERR-HDR-1", "STREAM-2"],
      summary: "A spend cap is reported as an exhausted budget for streams.",
      with: { reported: "budget_exhausted", when: streaming },
    },
    "denial.quota-own-word": {
      summary: "A spend cap has an undocumented reason.",
      with: { reported: "daily_limit_reached" },
    },
  }),
  ...grid(UNKNOWN_MODEL, wrongStatus("model_not_found"), {
    "denial.unknown-model-400": { summary: "An unknown model gets 400.", with: { status: 400 } },
    "denial.unknown-model-400-on-messages": {
      summary: "An unknown model gets 400 on the messages endpoint.",
      with: { status: 400, when: onMessages },
    },
    "denial.unknown-model-503": {
      summary: "An unknown model gets 503, as if no provider were up.",
      with: { status: 503 },
      mayBreak: ["BAD-BODY"],
      detectedBy: { "errors.no-such-model[chat]": "ERR-404-MODEL" },
    },
    "denial.unknown-model-422-on-stream": {
      breaks: [...UNKNOWN_MODEL, "STREAM-2"],
      summary: "An unknown model gets 422 for streams.",
      with: { status: 422, when: streaming },
    },
    "denial.unknown-model-403": { summary: "An unknown model gets 403.", with: { status: 403 } },
  }),
  ...grid([...UNKNOWN_MODEL, "ERR-HDR-1"], wrongReason("model_not_found"), {
    "denial.unknown-model-own-word": {
      summary: "An unknown model has an undocumented reason.",
      with: { reported: "no_such_model" },
    },
  }),
  ...grid(RATE, wrongStatus("rate_limit_exceeded"), {
    "denial.rate-503": { summary: "The rate limit gets 503.", with: { status: 503 } },
    "denial.rate-403-on-messages": {
      summary: "The rate limit gets 403 on the messages endpoint.",
      with: { status: 403, when: onMessages },
    },
  }),
  ...grid([...RATE, "ERR-HDR-1"], wrongReason("rate_limit_exceeded"), {
    "denial.rate-as-concurrency": {
      summary: "The rate limit is reported as the concurrency limit.",
      with: { reported: "concurrency_limit_exceeded" },
      mayBreak: ["LIMIT-CONC-4"],
    },
    "denial.rate-as-concurrency-on-non-streaming-chat": {
      breaks: [...RATE, "ERR-HDR-1", "LIMIT-CONC-4"],
      summary: "The rate limit is reported as the concurrency limit for non-streaming chat requests.",
      with: { reported: "concurrency_limit_exceeded", when: both(onChat, nonStreaming) },
    },
    "denial.rate-own-word-on-stream": {
      breaks: [...RATE, "ERR-HDR-1", "STREAM-2"],
      summary: "The rate limit has a different reason for streams.",
      with: { reported: "too_many_requests", when: streaming },
    },
  }),
  ...grid(CONCURRENCY, wrongStatus("concurrency_limit_exceeded"), {
    "denial.concurrency-503": { summary: "The concurrency limit gets 503.", with: { status: 503 } },
    "denial.concurrency-409-on-chat": {
      summary: "The concurrency limit gets 409 on the chat endpoint.",
      with: { status: 409, when: onChat },
    },
  }),
  ...grid([...CONCURRENCY, "ERR-HDR-1"], wrongReason("concurrency_limit_exceeded"), {
    "denial.concurrency-as-rate": {
      breaks: [...CONCURRENCY, "ERR-HDR-1", "LIMIT-RATE-3"],
      summary: "The concurrency limit is reported as the rate limit.",
      with: { reported: "rate_limit_exceeded" },
    },
    "denial.concurrency-as-rate-on-stream": {
      breaks: [...CONCURRENCY, "ERR-HDR-1", "STREAM-2", "LIMIT-RATE-3"],
      summary: "The concurrency limit is reported as the rate limit for streams.",
      with: { reported: "rate_limit_exceeded", when: streaming },
    },
  }),
  ...grid(BUDGET, wrongStatus("budget_exhausted"), {
    "denial.budget-402": { summary: "An exhausted budget gets 402.", with: { status: 402 } },
    "denial.budget-400": { summary: "An exhausted budget gets 400.", with: { status: 400 } },
    "denial.budget-403-on-messages": {
      summary: "An exhausted budget gets 403 on the messages endpoint.",
      with: { status: 403, when: onMessages },
    },
  }),
  ...grid([...BUDGET, "ERR-HDR-1"], wrongReason("budget_exhausted"), {
    "denial.budget-as-quota": {
      summary: "An exhausted budget is reported as a spend cap.",
      with: { reported: "quota_exceeded" },
    },
    "denial.budget-as-rate": {
      summary: "An exhausted budget is reported as a rate limit.",
      with: { reported: "rate_limit_exceeded" },
      mayBreak: ["LIMIT-RATE-4"],
    },
    "denial.budget-as-credits-on-stream": {
      breaks: [...BUDGET, "ERR-HDR-1", "STREAM-2"],
      summary: "An exhausted budget is reported as an exhausted balance for streams.",
      with: { reported: "insufficient_credits", when: both(streaming, onChat) },
    },
  }),
  mutation("denial.credits-as-rate-limit", {
    breaks: [...CREDITS, "ERR-HDR-1", "LIMIT-RATE-3", "LIMIT-RATE-4"],
    summary: "An exhausted balance looks like a rate limit.",
    apply: onDenial("insufficient_credits", always, insteadOf("rate_limit_exceeded")),
    detectedBy: { "errors.insufficient-credits[chat,non-streaming]": "ERR-402-CREDITS" },
  }),
  mutation("denial.budget-as-rate-limit-with-retry-after", {
    breaks: [...BUDGET, "ERR-HDR-1"],
    summary: "An exhausted budget looks exactly like a rate limit, with a Retry-After that does not help.",
    apply: onDenial("budget_exhausted", always, insteadOf("rate_limit_exceeded", { waitMs: 1_000 })),
  }),
  mutation("denial.quota-204", {
    breaks: [...QUOTA, "ERR-BODY-1", "ERR-200-1"],
    summary: "A spend cap gets 204.",
    apply: onDenial("quota_exceeded", always, (response, call) => ({
      ...status(204)(response, call),
      body: { kind: "none" },
    })),
    mayBreak: ["REASON-ON-SUCCESS", "SPEND-7"],
  }),
];
