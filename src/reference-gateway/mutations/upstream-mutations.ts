import { type Mutation, mutation } from "../change.ts";
import { dropsConnection, neverResponds } from "../edits/connection-edits.ts";
import { coolDown } from "../edits/cool-down.ts";
import { dropHeader, html, insideStream, insteadOf, REASON_HEADER, status } from "../edits/replies/response-edits.ts";
import {
  always,
  both,
  every,
  inference,
  modelIs,
  nonStreaming,
  onChat,
  onMessages,
  remembered,
  streaming,
  type When,
} from "../edits/when.ts";
import { type Apply, onDenial, onRefusal, wrap } from "../edits/wrap.ts";
import type { Call } from "../pipeline/behaviour.ts";
import { refusal } from "../pipeline/refusal.ts";
import type { GatewayResponse } from "../pipeline/response.ts";
import type { ProviderFailure } from "../providers/plan.ts";
import { inputTokens } from "../providers/text-plan.ts";

const FAILURES = ["upstream_error", "upstream_timeout"] as const;
const FAILED = ["ERR-5XX-1"];

const failed: When = (call) => call.plan?.kind === "failure";

/** The provider's response is passed on to the caller. */
const passedOn = (
  edit: (failure: ProviderFailure) => (response: GatewayResponse, call: Call) => GatewayResponse,
): Apply =>
  onDenial(FAILURES, failed, (response, call) =>
    call.plan?.kind === "failure" ? edit(call.plan.failure)(response, call) : response,
  );

const everyFourHundredth = every(400, inference);
const pause = remembered(() => ({ untilUs: Number.NEGATIVE_INFINITY }));

const pausesService: Apply = wrap("check", (next) => (name, call) => {
  const refused = next(name, call);
  if (name !== "model" || refused !== undefined) return refused;
  const nowUs = call.services.clock.monotonicUs();
  if (everyFourHundredth(call)) pause(call).untilUs = nowUs + 5_000_000;
  return nowUs < pause(call).untilUs ? refusal("upstream_error") : undefined;
});

/** A provider failure is treated as an empty reply. */
const emptySuccess = (when: When): Apply =>
  wrap("plan", (next) => (model, request, call) => {
    const plan = next(model, request, call);
    if (plan.kind !== "failure" || !when(call)) return plan;
    return {
      kind: "reply",
      firstMs: plan.afterMs,
      paceMs: 0,
      pieces: [],
      stop: "stop",
      inputTokens: inputTokens(request),
    };
  });

/** Another model serves the requests of a failing one. */
const fallback: Apply = wrap("plan", (next) => (model, request, call) => {
  const plan = next(model, request, call);
  const other = call.services.models.get("shout-fast");
  return plan.kind === "failure" && other !== undefined ? next(other, request, call) : plan;
});

/** How a provider's failure is handled. */
export const UPSTREAM_MUTATIONS: readonly Mutation[] = [
  mutation(
    "upstream.empty-success",
    [...FAILED, "CHAT-2", "MSG-2"],
    "A provider failure becomes an empty reply.",
    emptySuccess(nonStreaming),
  ),
  mutation(
    "upstream.empty-stream",
    FAILED,
    "A provider failure becomes an empty stream that ends like a complete one.",
    emptySuccess(streaming),
  ),
  mutation(
    "upstream.error-in-200",
    [...FAILED, "ERR-200-1"],
    "A provider failure is reported with status 200.",
    onDenial(FAILURES, nonStreaming, status(200)),
  ),
  mutation(
    "upstream.inside-stream",
    [...FAILED, "ERR-200-1"],
    "A provider failure before the first delta is reported inside a stream with status 200.",
    onDenial(FAILURES, streaming, insideStream),
  ),
  mutation(
    "upstream.as-401",
    [...FAILED, "AUTH-1"],
    "A provider failure is reported as an invalid key.",
    onDenial(FAILURES, always, insteadOf("invalid_api_key")),
  ),
  mutation(
    "upstream.as-402",
    [...FAILED, "SPEND-13"],
    "A provider failure is reported as an exhausted balance.",
    onDenial(FAILURES, always, insteadOf("insufficient_credits")),
  ),
  mutation(
    "upstream.as-404",
    FAILED,
    "A provider failure is reported as an unknown model.",
    onDenial(FAILURES, always, insteadOf("model_not_found")),
  ),
  mutation(
    "upstream.as-429",
    [...FAILED, "LIMIT-RATE-3"],
    "A provider failure is reported as the account's rate limit.",
    onDenial(FAILURES, always, insteadOf("rate_limit_exceeded", { waitMs: 5_000 })),
  ),
  mutation(
    "upstream.as-concurrency",
    FAILED,
    "A provider failure on the messages endpoint is reported as the account's concurrency limit.",
    onDenial(FAILURES, onMessages, insteadOf("concurrency_limit_exceeded", { waitMs: 1_000 })),
  ),
  mutation(
    "upstream.as-400",
    FAILED,
    "A provider failure is reported as a bad request.",
    onDenial(FAILURES, always, insteadOf("invalid_request")),
  ),
  mutation(
    "upstream.as-401-on-stream",
    [...FAILED, "AUTH-1"],
    "A provider failure is reported as an invalid key for streams.",
    onDenial(FAILURES, streaming, insteadOf("invalid_api_key")),
  ),
  mutation(
    "upstream.timeout-as-408",
    FAILED,
    "A provider timeout is reported as a timeout of the caller.",
    onRefusal("upstream_timeout", always, (refused) => ({ ...refused, status: 408 })),
  ),
  mutation(
    "upstream.timeout-as-429",
    [...FAILED, "LIMIT-RATE-3"],
    "A provider timeout is reported as the account's rate limit.",
    onDenial("upstream_timeout", always, insteadOf("rate_limit_exceeded", { waitMs: 1_000 })),
  ),
  mutation(
    "upstream.timeout-hangs",
    // Not ERR-5XX-1: the specification sets no time limit.
    ["UPSTREAM-TIMEOUT", "ANSWER-IN-TIME"],
    "The gateway waits forever for a provider that does not respond.",
    neverResponds((call) => call.refused?.reason === "upstream_timeout"),
  ),
  mutation(
    "upstream.own-status-passed-on",
    [...FAILED, "ERR-401-INVALID", "ERR-HDR-1", "SPEND-13"],
    "The provider's 401, 402 and 429 are passed on to the caller.",
    passedOn((failure) => status(typeof failure.status === "number" ? failure.status : 504)),
  ),
  mutation(
    "upstream.page-passed-on",
    [...FAILED, "ERR-200-1", "REASON-ON-SUCCESS"],
    "A provider's HTML page is passed on with 200.",
    onDenial(FAILURES, modelIs("fail-html"), (response, call) =>
      status(200)(html("502 Bad Gateway")(response, call), call),
    ),
  ),
  mutation(
    "upstream.operator-key-shown",
    ["SEC-3", "NO-SECRETS"],
    "The provider's error is passed on verbatim, including the operator's key.",
    passedOn(
      (failure) => (response, call) =>
        insteadOf("upstream_error", {
          status: response.status,
          message: failure.body || "The provider did not respond.",
        })(response, call),
    ),
  ),
  mutation(
    "upstream.drops-connection",
    FAILED,
    "After a provider failure the connection is dropped without a response.",
    dropsConnection(failed),
  ),
  mutation(
    "upstream.drops-connection-on-stream",
    FAILED,
    "After a provider failure before the first delta, the connection of a stream is dropped.",
    dropsConnection(both(failed, streaming)),
  ),
  mutation("upstream.fallback-answers", FAILED, "When a model fails, another one responds under its name.", fallback),
  mutation(
    "upstream.500-now-and-then-as-401",
    [...FAILED, "AUTH-1"],
    "Every second provider failure is reported as an invalid key.",
    onDenial(FAILURES, every(2, failed), insteadOf("invalid_api_key")),
  ),
  mutation(
    "upstream.failures-unlist-models",
    [...FAILED, "STEADY-SERVICE"],
    "After five provider failures within ten seconds, all models are unknown for four seconds.",
    coolDown({ afterFailures: 5, lastsMs: 4_000, refuse: () => refusal("model_not_found") }),
  ),
  mutation(
    "load.not-served-for-a-while",
    ["BASE-3", "STEADY-SERVICE"],
    "After every 400th request, no model is served for five seconds.",
    pausesService,
  ),
  mutation(
    "upstream.named-as-account-limit",
    FAILED,
    "A provider failure gets a 429 without a reason on the chat endpoint.",
    onDenial(FAILURES, onChat, (response, call) => status(429)(dropHeader(REASON_HEADER)(response, call), call)),
  ),
];
