import { grid, type Mutation, mutation } from "../../change.ts";
import { dropsConnection, neverResponds } from "../../edits/connection-edits.ts";
import { coolDown } from "../../edits/cool-down.ts";
import {
  dropHeader,
  html,
  insideStream,
  insteadOf,
  REASON_HEADER,
  status,
} from "../../edits/replies/response-edits.ts";
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
} from "../../edits/when.ts";
import { type Apply, onDenial, onRefusal, type ResponseEdit, wrap } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import { refusal } from "../../pipeline/refusal.ts";
import type { GatewayResponse } from "../../pipeline/response.ts";
import type { ProviderFailure } from "../../providers/plan.ts";
import { inputTokens } from "../../providers/text-plan.ts";

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
  ...grid([...FAILED, "CHAT-2", "MSG-2"], emptySuccess, {
    "upstream.empty-success": {
      summary: "A provider failure becomes an empty reply.",
      with: nonStreaming,
      detectedBy: { "errors.upstream-failure[chat,non-streaming]": "ERR-5XX-1" },
    },
    "upstream.empty-stream": {
      breaks: FAILED,
      summary: "A provider failure becomes an empty stream that ends like a complete one.",
      with: streaming,
      detectedBy: { "errors.upstream-failure[chat,streaming]": "ERR-5XX-1" },
    },
  }),
  mutation("upstream.error-in-200", {
    breaks: [...FAILED, "ERR-200-1"],
    summary: "A provider failure is reported with status 200.",
    apply: onDenial(FAILURES, nonStreaming, status(200)),
    detectedBy: { "errors.upstream-failure[chat,non-streaming]": "ERR-5XX-1" },
  }),
  mutation("upstream.inside-stream", {
    breaks: [...FAILED, "ERR-200-1"],
    summary: "A provider failure before the first delta is reported inside a stream with status 200.",
    apply: onDenial(FAILURES, streaming, insideStream),
    detectedBy: { "errors.upstream-failure[chat,streaming]": "ERR-5XX-1" },
  }),
  ...grid(FAILED, (edit: ResponseEdit) => onDenial(FAILURES, always, edit), {
    "upstream.as-401": {
      breaks: [...FAILED, "AUTH-1"],
      summary: "A provider failure is reported as an invalid key.",
      with: insteadOf("invalid_api_key"),
      detectedBy: { "errors.upstream-failure[chat,non-streaming]": "ERR-5XX-1" },
    },
    "upstream.as-402": {
      breaks: [...FAILED, "SPEND-13"],
      summary: "A provider failure is reported as an exhausted balance.",
      with: insteadOf("insufficient_credits"),
    },
    "upstream.as-404": {
      summary: "A provider failure is reported as an unknown model.",
      with: insteadOf("model_not_found"),
      mayBreak: ["MODELS-3", "MODELS-4"],
    },
    "upstream.as-429": {
      breaks: [...FAILED, "LIMIT-RATE-3"],
      summary: "A provider failure is reported as the account's rate limit.",
      with: insteadOf("rate_limit_exceeded", { waitMs: 5_000 }),
    },
    "upstream.as-400": {
      summary: "A provider failure is reported as a bad request.",
      with: insteadOf("invalid_request"),
    },
  }),
  mutation("upstream.as-concurrency", {
    breaks: FAILED,
    summary: "A provider failure on the messages endpoint is reported as the account's concurrency limit.",
    apply: onDenial(FAILURES, onMessages, insteadOf("concurrency_limit_exceeded", { waitMs: 1_000 })),
  }),
  ...grid([...FAILED, "AUTH-1"], (when: When) => onDenial(FAILURES, when, insteadOf("invalid_api_key")), {
    "upstream.as-401-on-stream": {
      summary: "A provider failure is reported as an invalid key for streams.",
      with: streaming,
    },
    "upstream.500-now-and-then-as-401": {
      summary: "Every second provider failure is reported as an invalid key.",
      with: every(2, failed),
    },
  }),
  mutation("upstream.timeout-as-408", {
    breaks: FAILED,
    summary: "A provider timeout is reported as a timeout of the caller.",
    apply: onRefusal("upstream_timeout", always, (refused) => ({ ...refused, status: 408 })),
  }),
  mutation("upstream.timeout-as-429", {
    breaks: [...FAILED, "LIMIT-RATE-3"],
    summary: "A provider timeout is reported as the account's rate limit.",
    apply: onDenial("upstream_timeout", always, insteadOf("rate_limit_exceeded", { waitMs: 1_000 })),
  }),
  mutation("upstream.timeout-hangs", {
    // Not ERR-5XX-1: the specification sets no time limit.
    breaks: ["UPSTREAM-TIMEOUT", "ANSWER-IN-TIME"],
    summary: "The gateway waits forever for a provider that does not respond.",
    apply: neverResponds((call) => call.refused?.reason === "upstream_timeout"),
  }),
  ...grid([...FAILED, "ERR-401-INVALID", "ERR-HDR-1", "SPEND-13"], passedOn, {
    "upstream.own-status-passed-on": {
      summary: "The provider's 401, 402 and 429 are passed on to the caller.",
      with: (failure) => status(typeof failure.status === "number" ? failure.status : 504),
    },
    "upstream.operator-key-shown": {
      breaks: ["SEC-3", "NO-SECRETS"],
      summary: "The provider's error is passed on verbatim, including the operator's key.",
      with: (failure) => (response, call) =>
        insteadOf("upstream_error", {
          status: response.status,
          message: failure.body || "The provider did not respond.",
        })(response, call),
    },
  }),
  mutation("upstream.page-passed-on", {
    breaks: [...FAILED, "ERR-200-1", "REASON-ON-SUCCESS"],
    summary: "A provider's HTML page is passed on with 200.",
    apply: onDenial(FAILURES, modelIs("fail-html"), (response, call) =>
      status(200)(html("502 Bad Gateway")(response, call), call),
    ),
  }),
  ...grid(FAILED, dropsConnection, {
    "upstream.drops-connection": {
      summary: "After a provider failure the connection is dropped without a response.",
      with: failed,
    },
    "upstream.drops-connection-on-stream": {
      summary: "After a provider failure before the first delta, the connection of a stream is dropped.",
      with: both(failed, streaming),
    },
  }),
  mutation("upstream.fallback-answers", {
    breaks: FAILED,
    summary: "When a model fails, another one responds under its name.",
    apply: fallback,
    mayBreak: ["SPEND-10"],
  }),
  mutation("upstream.failures-unlist-models", {
    breaks: [...FAILED, "STEADY-SERVICE"],
    summary: "After five provider failures within ten seconds, all models are unknown for four seconds.",
    apply: coolDown({ afterFailures: 5, lastsMs: 4_000, refuse: () => refusal("model_not_found") }),
  }),
  mutation("load.not-served-for-a-while", {
    breaks: ["BASE-3", "STEADY-SERVICE"],
    summary: "After every 400th request, no model is served for five seconds.",
    apply: pausesService,
  }),
  mutation("upstream.named-as-account-limit", {
    breaks: FAILED,
    summary: "A provider failure gets a 429 without a reason on the chat endpoint.",
    apply: onDenial(FAILURES, onChat, (response, call) => status(429)(dropHeader(REASON_HEADER)(response, call), call)),
    mayBreak: ["ERR-HDR-1"],
  }),
];
