import { type Mutation, mutation } from "../change.ts";
import { type Denial, REQUIREMENTS_OF_DENIAL } from "../edits/denial-requirements.ts";
import { insteadOf, status } from "../edits/replies/response-edits.ts";
import { always, both, nonStreaming, onChat, onMessages, secondKey, streaming, type When } from "../edits/when.ts";
import { onDenial, onRefusal } from "../edits/wrap.ts";

/** A denial with the right reason and the wrong status. */
function wrongStatus(
  name: string,
  reason: Denial,
  code: number,
  summary: string,
  when: When = always,
  more: readonly string[] = [],
): Mutation {
  return mutation(
    `denial.${name}`,
    [...REQUIREMENTS_OF_DENIAL[reason], ...more],
    summary,
    onRefusal(reason, when, (refused) => ({ ...refused, status: code })),
  );
}

/** A denial with the right status and the reason of another. */
function wrongReason(
  name: string,
  reason: Denial,
  reported: string,
  summary: string,
  when: When = always,
  more: readonly string[] = [],
): Mutation {
  return mutation(
    `denial.${name}`,
    [...REQUIREMENTS_OF_DENIAL[reason], "ERR-HDR-1", ...more],
    summary,
    onDenial(reason, when, (response) => ({
      ...response,
      headers: response.headers.map(([header, value]) => [header, value === reason ? reported : value]),
    })),
  );
}

/** Denials with the status or reason of another requirement, or of none. */
export const DENIAL_STATUS_MUTATIONS: readonly Mutation[] = [
  wrongStatus("credits-403", "insufficient_credits", 403, "An exhausted balance gets 403."),
  wrongStatus(
    "credits-400-on-stream",
    "insufficient_credits",
    400,
    "An exhausted balance gets 400 for streams.",
    streaming,
    ["STREAM-2"],
  ),
  wrongStatus("credits-429", "insufficient_credits", 429, "An exhausted balance gets 429."),
  wrongStatus(
    "credits-500-for-second-key",
    "insufficient_credits",
    500,
    "An exhausted balance gets 500 for the account's second key.",
    secondKey,
  ),
  wrongReason(
    "credits-as-quota",
    "insufficient_credits",
    "quota_exceeded",
    "An exhausted balance is reported as a spend cap.",
  ),
  mutation(
    "denial.credits-as-rate-limit",
    [...REQUIREMENTS_OF_DENIAL.insufficient_credits, "ERR-HDR-1", "LIMIT-RATE-3", "LIMIT-RATE-4"],
    "An exhausted balance looks like a rate limit.",
    onDenial("insufficient_credits", always, insteadOf("rate_limit_exceeded")),
  ),
  wrongStatus("quota-403", "quota_exceeded", 403, "A spend cap gets 403.", always, ["ERR-BODY-1", "ERR-HDR-2"]),
  wrongStatus("quota-429", "quota_exceeded", 429, "A spend cap gets 429.", always, ["ERR-BODY-1", "ERR-HDR-2"]),
  wrongStatus(
    "quota-400-on-messages",
    "quota_exceeded",
    400,
    "A spend cap gets 400 on the messages endpoint.",
    onMessages,
  ),
  wrongReason(
    "quota-as-credits",
    "quota_exceeded",
    "insufficient_credits",
    "A spend cap is reported as an exhausted balance.",
  ),
  wrongReason(
    "quota-as-budget-on-stream",
    "quota_exceeded",
    "budget_exhausted",
    "A spend cap is reported as an exhausted budget for streams.",
    streaming,
    ["STREAM-2"],
  ),
  wrongReason("quota-own-word", "quota_exceeded", "daily_limit_reached", "A spend cap has an undocumented reason."),
  wrongStatus("unknown-model-400", "model_not_found", 400, "An unknown model gets 400."),
  wrongStatus(
    "unknown-model-400-on-messages",
    "model_not_found",
    400,
    "An unknown model gets 400 on the messages endpoint.",
    onMessages,
  ),
  wrongStatus("unknown-model-503", "model_not_found", 503, "An unknown model gets 503, as if no provider were up."),
  wrongStatus(
    "unknown-model-422-on-stream",
    "model_not_found",
    422,
    "An unknown model gets 422 for streams.",
    streaming,
    ["STREAM-2"],
  ),
  wrongStatus("unknown-model-403", "model_not_found", 403, "An unknown model gets 403."),
  wrongReason(
    "unknown-model-own-word",
    "model_not_found",
    "no_such_model",
    "An unknown model has an undocumented reason.",
  ),
  wrongStatus("rate-503", "rate_limit_exceeded", 503, "The rate limit gets 503."),
  wrongStatus(
    "rate-403-on-messages",
    "rate_limit_exceeded",
    403,
    "The rate limit gets 403 on the messages endpoint.",
    onMessages,
  ),
  wrongReason(
    "rate-as-concurrency",
    "rate_limit_exceeded",
    "concurrency_limit_exceeded",
    "The rate limit is reported as the concurrency limit.",
  ),
  wrongReason(
    "rate-as-concurrency-on-non-streaming-chat",
    "rate_limit_exceeded",
    "concurrency_limit_exceeded",
    "The rate limit is reported as the concurrency limit for non-streaming chat requests.",
    both(onChat, nonStreaming),
    ["LIMIT-CONC-4"],
  ),
  wrongReason(
    "rate-own-word-on-stream",
    "rate_limit_exceeded",
    "too_many_requests",
    "The rate limit has a different reason for streams.",
    streaming,
    ["STREAM-2"],
  ),
  wrongStatus("concurrency-503", "concurrency_limit_exceeded", 503, "The concurrency limit gets 503."),
  wrongStatus(
    "concurrency-409-on-chat",
    "concurrency_limit_exceeded",
    409,
    "The concurrency limit gets 409 on the chat endpoint.",
    onChat,
  ),
  wrongReason(
    "concurrency-as-rate",
    "concurrency_limit_exceeded",
    "rate_limit_exceeded",
    "The concurrency limit is reported as the rate limit.",
    always,
    ["LIMIT-RATE-3"],
  ),
  wrongReason(
    "concurrency-as-rate-on-stream",
    "concurrency_limit_exceeded",
    "rate_limit_exceeded",
    "The concurrency limit is reported as the rate limit for streams.",
    streaming,
    ["STREAM-2", "LIMIT-RATE-3"],
  ),
  wrongStatus("budget-402", "budget_exhausted", 402, "An exhausted budget gets 402."),
  wrongStatus("budget-400", "budget_exhausted", 400, "An exhausted budget gets 400."),
  wrongStatus(
    "budget-403-on-messages",
    "budget_exhausted",
    403,
    "An exhausted budget gets 403 on the messages endpoint.",
    onMessages,
  ),
  wrongReason(
    "budget-as-quota",
    "budget_exhausted",
    "quota_exceeded",
    "An exhausted budget is reported as a spend cap.",
  ),
  wrongReason(
    "budget-as-rate",
    "budget_exhausted",
    "rate_limit_exceeded",
    "An exhausted budget is reported as a rate limit.",
  ),
  mutation(
    "denial.budget-as-rate-limit-with-retry-after",
    [...REQUIREMENTS_OF_DENIAL.budget_exhausted, "ERR-HDR-1"],
    "An exhausted budget looks exactly like a rate limit, with a Retry-After that does not help.",
    onDenial("budget_exhausted", always, insteadOf("rate_limit_exceeded", { waitMs: 1_000 })),
  ),
  wrongReason(
    "budget-as-credits-on-stream",
    "budget_exhausted",
    "insufficient_credits",
    "An exhausted budget is reported as an exhausted balance for streams.",
    both(streaming, onChat),
    ["STREAM-2"],
  ),
  mutation(
    "denial.quota-204",
    [...REQUIREMENTS_OF_DENIAL.quota_exceeded, "ERR-BODY-1", "ERR-200-1"],
    "A spend cap gets 204.",
    onDenial("quota_exceeded", always, (response, call) => ({
      ...status(204)(response, call),
      body: { kind: "none" },
    })),
  ),
];
