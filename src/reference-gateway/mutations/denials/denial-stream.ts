import { grid, type Mutation, mutation } from "../../change.ts";
import { insideStream } from "../../edits/replies/response-edits.ts";
import { both, onChat, onMessages, streaming } from "../../edits/when.ts";
import { type Apply, onDenial, onRefusal } from "../../edits/wrap.ts";
import { DENIALS, REQUIREMENTS_OF_INFERENCE_DENIALS, type Reason, requirementsOf } from "../../pipeline/refusal.ts";
import type { GatewayResponse } from "../../pipeline/response.ts";

/** A denied stream looks like a success, with the refusal as its only item. */
const hidden = (reason: Reason): Apply => onDenial(reason, streaming, insideStream);

const hides = (reason: Reason) => [
  "STREAM-2",
  "ERR-HDR-1",
  "ERR-200-1",
  ...requirementsOf(reason).filter((requirement) => requirement !== "MODELS-5"),
];

/** A stream without any content. */
const emptyStream = (response: GatewayResponse): GatewayResponse => ({
  ...response,
  status: 200,
  headers: [],
  body: { kind: "events", ending: "finish", events: [{ kind: "done", atMs: 0, tokens: 0, data: "[DONE]" }] },
});

/** A denial as the text of a reply. */
const asText = (response: GatewayResponse): GatewayResponse => ({
  ...response,
  status: 200,
  headers: [],
  body: {
    kind: "events",
    ending: "finish",
    events: [
      {
        kind: "text",
        atMs: 0,
        tokens: 0,
        data: {
          object: "chat.completion.chunk",
          choices: [{ index: 0, delta: { content: `Error: ${response.refusal?.message}` } }],
        },
      },
      { kind: "done", atMs: 0, tokens: 0, data: "[DONE]" },
    ],
  },
});

/** Denials that differ for streaming requests. */
export const DENIAL_STREAM_MUTATIONS: readonly Mutation[] = [
  ...grid([], hidden, {
    "denial.invalid-api-key-inside-stream": {
      breaks: hides("invalid_api_key"),
      summary: "A stream with an unknown key begins with 200 and reports the error inside.",
      with: "invalid_api_key",
    },
    "denial.key-revoked-inside-stream": {
      breaks: hides("key_revoked"),
      summary: "A stream with a revoked key begins with 200 and reports the error inside.",
      with: "key_revoked",
    },
    "denial.insufficient-credits-inside-stream": {
      breaks: hides("insufficient_credits"),
      summary: "A stream with no balance begins with 200 and reports the error inside.",
      with: "insufficient_credits",
    },
    "denial.quota-exceeded-inside-stream": {
      breaks: hides("quota_exceeded"),
      summary: "A stream over the spend cap begins with 200 and reports the error inside.",
      with: "quota_exceeded",
    },
    "denial.model-not-found-inside-stream": {
      breaks: hides("model_not_found"),
      summary: "A stream of an unknown model begins with 200 and reports the error inside.",
      with: "model_not_found",
    },
    "denial.rate-limit-exceeded-inside-stream": {
      breaks: hides("rate_limit_exceeded"),
      summary: "A stream over the rate limit begins with 200 and reports the error inside.",
      with: "rate_limit_exceeded",
    },
    "denial.concurrency-limit-exceeded-inside-stream": {
      breaks: hides("concurrency_limit_exceeded"),
      summary: "A stream over the concurrency limit begins with 200 and reports the error inside.",
      with: "concurrency_limit_exceeded",
      mayBreak: ["LIMIT-5", "LIMIT-CONC-2", "LIMIT-CONC-3"],
    },
    "denial.budget-exhausted-inside-stream": {
      breaks: hides("budget_exhausted"),
      summary: "A stream over its budget begins with 200 and reports the error inside.",
      with: "budget_exhausted",
    },
  }),
  mutation("denial.inside-stream-on-messages", {
    breaks: ["STREAM-2", "ERR-HDR-1", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
    summary: "Denied streams on the messages endpoint begin with 200 and report the error inside.",
    apply: onDenial(DENIALS, both(onMessages, streaming), insideStream),
  }),
  mutation("denial.quota-empty-stream", {
    breaks: ["STREAM-2", "ERR-HDR-1", "ERR-402-QUOTA", "SPEND-3"],
    summary: "A stream over the spend cap is empty.",
    apply: onDenial("quota_exceeded", both(onChat, streaming), emptyStream),
  }),
  mutation("denial.rate-as-reply-text", {
    breaks: ["STREAM-2", "ERR-HDR-1", "ERR-429-RATE", "LIMIT-RATE-1", "LIMIT-RATE-4"],
    summary: "A stream over the rate limit sends the error as model output.",
    apply: onDenial("rate_limit_exceeded", both(onChat, streaming), asText),
  }),
  mutation("denial.credits-as-reply-text", {
    breaks: ["STREAM-2", "ERR-HDR-1", "ERR-402-CREDITS", "SPEND-2"],
    summary: "A stream with no balance sends the error as model output.",
    apply: onDenial("insufficient_credits", both(onChat, streaming), asText),
  }),
  mutation("denial.all-403-on-stream", {
    breaks: ["STREAM-2", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
    summary: "Every denied stream gets 403.",
    apply: onRefusal(DENIALS, streaming, (refused) => ({ ...refused, status: 403 })),
  }),
];
