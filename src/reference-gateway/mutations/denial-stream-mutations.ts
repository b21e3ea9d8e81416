import { type Mutation, mutation } from "../change.ts";
import {
  type Denial,
  REQUIREMENTS_OF_DENIAL,
  REQUIREMENTS_OF_INFERENCE_DENIALS,
} from "../edits/denial-requirements.ts";
import { insideStream } from "../edits/replies/response-edits.ts";
import { both, onChat, onMessages, streaming } from "../edits/when.ts";
import { DENIALS, onDenial, onRefusal } from "../edits/wrap.ts";
import type { GatewayResponse } from "../pipeline/response.ts";

/** A denied stream looks like a success, with the refusal as its only item. */
function hidden(reason: Denial, summary: string): Mutation {
  const requirements = [
    "STREAM-2",
    "ERR-HDR-1",
    "ERR-200-1",
    ...REQUIREMENTS_OF_DENIAL[reason].filter((requirement) => requirement !== "MODELS-5"),
  ];
  return mutation(
    `denial.${reason.replaceAll("_", "-")}-inside-stream`,
    requirements,
    summary,
    onDenial(reason, streaming, insideStream),
  );
}

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
  hidden("invalid_api_key", "A stream with an unknown key begins with 200 and reports the error inside."),
  hidden("key_revoked", "A stream with a revoked key begins with 200 and reports the error inside."),
  hidden("insufficient_credits", "A stream with no balance begins with 200 and reports the error inside."),
  hidden("quota_exceeded", "A stream over the spend cap begins with 200 and reports the error inside."),
  hidden("model_not_found", "A stream of an unknown model begins with 200 and reports the error inside."),
  hidden("rate_limit_exceeded", "A stream over the rate limit begins with 200 and reports the error inside."),
  hidden(
    "concurrency_limit_exceeded",
    "A stream over the concurrency limit begins with 200 and reports the error inside.",
  ),
  hidden("budget_exhausted", "A stream over its budget begins with 200 and reports the error inside."),
  mutation(
    "denial.inside-stream-on-messages",
    ["STREAM-2", "ERR-HDR-1", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
    "Denied streams on the messages endpoint begin with 200 and report the error inside.",
    onDenial(DENIALS, both(onMessages, streaming), insideStream),
  ),
  mutation(
    "denial.quota-empty-stream",
    ["STREAM-2", "ERR-HDR-1", "ERR-402-QUOTA", "SPEND-3"],
    "A stream over the spend cap is empty.",
    onDenial("quota_exceeded", both(onChat, streaming), emptyStream),
  ),
  mutation(
    "denial.rate-as-reply-text",
    ["STREAM-2", "ERR-HDR-1", "ERR-429-RATE", "LIMIT-RATE-1", "LIMIT-RATE-4"],
    "A stream over the rate limit sends the error as model output.",
    onDenial("rate_limit_exceeded", both(onChat, streaming), asText),
  ),
  mutation(
    "denial.credits-as-reply-text",
    ["STREAM-2", "ERR-HDR-1", "ERR-402-CREDITS", "SPEND-2"],
    "A stream with no balance sends the error as model output.",
    onDenial("insufficient_credits", both(onChat, streaming), asText),
  ),
  mutation(
    "denial.all-403-on-stream",
    ["STREAM-2", ...REQUIREMENTS_OF_INFERENCE_DENIALS],
    "Every denied stream gets 403.",
    onRefusal(DENIALS, streaming, (refused) => ({ ...refused, status: 403 })),
  ),
];
