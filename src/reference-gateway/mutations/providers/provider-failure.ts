import { grid, type Mutation, mutation } from "../../change.ts";
import { onNextProvider, onProviderRequest, onRelayedReply, onRelayedText } from "../../edits/provider-edits.ts";
import { insteadOf, setHeader, status } from "../../edits/replies/response-edits.ts";
import { always, onMessages, remembered, streaming, type When } from "../../edits/when.ts";
import { all, onDenial, wrap } from "../../edits/wrap.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import type { ProviderFailure } from "../../providers/plan.ts";
import type { FailedAttempt } from "../../relay/attempt.ts";

const FAILED = ["ERR-5XX-1"];
const ATTEMPTS = ["UPSTREAM-ATTEMPTS"];
const FAILOVER = ["UPSTREAM-FAILOVER"];

/** Calls each provider this many times, one after the other. */
const timesEach = (times: number, pauseMs = 0, when: (failed: FailedAttempt, call: Call) => boolean = () => true) =>
  onNextProvider((failed, providers, call) => {
    const last = failed.at(-1);
    if (last === undefined || last.hasBegun || call.left?.aborted === true || !when(last, call)) return undefined;
    const provider = providers[Math.floor(failed.length / times)];
    return provider === undefined ? "none" : { provider, afterMs: pauseMs };
  });

/** Such a failure prevents failover. */
const givesUp = (when: (failed: FailedAttempt, call: Call) => boolean) =>
  onNextProvider((failed, _providers, call) => {
    const last = failed.at(-1);
    return last !== undefined && when(last, call) ? "none" : undefined;
  });

/** A real provider failed with a status. */
const failedWith =
  (...statuses: readonly ProviderFailure["status"][]): When =>
  ({ upstreamFailure }) =>
    upstreamFailure !== undefined && statuses.includes(upstreamFailure.status);

/** Which provider served a call; known after it was called. */
const lastProvider = remembered(() => new WeakMap<Call, string>());

/** How a provider's failure is handled. */
export const PROVIDER_FAILURE_MUTATIONS: readonly Mutation[] = [
  mutation("provider.429-as-own", {
    breaks: [...FAILED, "LIMIT-RATE-3"],
    summary: "The provider's rate limit is reported as the caller's.",
    apply: onDenial("upstream_error", failedWith(429), insteadOf("rate_limit_exceeded", { waitMs: 1_000 })),
  }),
  mutation("provider.429-passed-on", {
    breaks: [...FAILED, "ERR-HDR-1"],
    summary: "The provider's 429 is passed on.",
    apply: onDenial("upstream_error", failedWith(429), status(429)),
    mayBreak: ["ERR-HDR-1"],
    detectedBy: { "upstream.failure[chat,non-streaming,429]": "ERR-5XX-1" },
  }),
  mutation("provider.401-as-own", {
    breaks: [...FAILED, "AUTH-1", "ERR-401-INVALID"],
    summary: "A provider's 401 for the operator's key is reported as the caller's.",
    apply: onDenial("upstream_error", failedWith(401), insteadOf("invalid_api_key")),
  }),
  mutation("provider.402-as-own", {
    breaks: [...FAILED, "SPEND-13"],
    summary: "The operator's empty account at the provider is reported as the caller's.",
    apply: onDenial("upstream_error", failedWith(402), insteadOf("insufficient_credits")),
  }),
  mutation("provider.529-as-own", {
    breaks: FAILED,
    summary: "An overloaded provider is reported as the caller's concurrency limit.",
    apply: onDenial("upstream_error", failedWith(529), insteadOf("concurrency_limit_exceeded", { waitMs: 1_000 })),
  }),
  mutation("provider.reset-as-400", {
    breaks: FAILED,
    summary: "A connection reset by the provider is reported as a bad request.",
    apply: onDenial("upstream_error", failedWith(502), insteadOf("invalid_request")),
  }),
  mutation("provider.own-key-in-error", {
    breaks: ["UPSTREAM-OWN-KEY", "SEC-3", "NO-SECRETS"],
    summary: "The provider's error is passed on verbatim, including the operator's key.",
    apply: onDenial("upstream_error", failedWith(401), (response, call) =>
      insteadOf("upstream_error", { status: response.status, message: call.upstreamFailure?.body || "It failed." })(
        response,
        call,
      ),
    ),
    detectedBy: { "upstream.failure[messages,non-streaming,401]": "UPSTREAM-OWN-KEY" },
  }),
  mutation("provider.own-key-in-header", {
    breaks: ["UPSTREAM-OWN-KEY", "SEC-3", "NO-SECRETS"],
    summary: "On failure, a header shows the key sent to the provider.",
    apply: onDenial("upstream_error", always, (response, call) =>
      setHeader("X-Upstream-Request", `POST with Bearer ${call.services.upstream?.providers[0]?.key ?? ""}`)(
        response,
        call,
      ),
    ),
  }),
  mutation("provider.three-times-each", {
    breaks: ATTEMPTS,
    summary: "Each provider is tried three times, more than the operator configured.",
    apply: timesEach(3),
    detectedBy: { "upstream.failure[chat,streaming,503]": "UPSTREAM-ATTEMPTS" },
  }),
  mutation("provider.twenty-times-each", {
    breaks: [...ATTEMPTS, "UPSTREAM-RETRY-BOUNDED"],
    summary: "Each provider is tried twenty times.",
    apply: timesEach(20),
  }),
  mutation("provider.429-retried-immediately", {
    breaks: ATTEMPTS,
    summary: "A provider that returns 429 is retried immediately, four times.",
    apply: timesEach(4, 0, ({ failure }) => failure.status === 429),
  }),
  mutation("provider.retries-for-a-minute", {
    breaks: ["UPSTREAM-RETRY-BOUNDED"],
    summary: "For messages streams, an overloaded provider is retried after half a minute, and again.",
    apply: onNextProvider((failed, providers, call) => {
      const isMeant = streaming(call) && onMessages(call) && failed.at(-1)?.failure.status === 529;
      const provider = providers[0];
      if (!isMeant || provider === undefined) return undefined;
      return failed.length > 2 ? "none" : { provider, afterMs: 31_000 };
    }),
  }),
  mutation("provider.partial-reply-retried", {
    breaks: ["UPSTREAM-BLIND-RETRY"],
    summary: "A reply that is interrupted in the middle is requested again.",
    apply: onNextProvider((failed, providers) => {
      const provider = providers[failed.length];
      return failed.at(-1)?.hasBegun === true && provider !== undefined ? { provider, afterMs: 0 } : undefined;
    }),
    detectedBy: { "upstream.broken-reply[chat,reset]": "UPSTREAM-BLIND-RETRY" },
  }),
  mutation("provider.called-after-disconnect", {
    breaks: ["UPSTREAM-AFTER-LEFT", "UPSTREAM-CANCEL"],
    summary: "When a provider fails, the next one is tried although the caller has disconnected.",
    apply: all(
      onProviderRequest(always, (requested) => ({ ...requested, signal: null })),
      onNextProvider((failed, providers) => {
        const provider = providers[failed.length];
        const isOver = failed.at(-1)?.hasBegun === true;
        return isOver || provider === undefined ? "none" : { provider, afterMs: 0 };
      }),
    ),
    detectedBy: { "upstream.cancelled[chat,provider-fails]": "UPSTREAM-AFTER-LEFT" },
  }),
  ...grid(FAILOVER, givesUp, {
    "provider.no-failover": { summary: "Only the first provider is tried.", with: () => true },
    "provider.no-failover-on-429": {
      summary: "No other provider is tried when the first one returns 429.",
      with: ({ failure }) => failure.status === 429,
    },
    "provider.no-failover-on-reset": {
      summary: "No other provider is tried when the connection to the first one is reset.",
      with: ({ failure }) => failure.status === 502,
      detectedBy: { "upstream.failover[chat,non-streaming,reset]": "UPSTREAM-FAILOVER" },
    },
    "provider.no-failover-for-streams": {
      summary: "No other provider is tried for a stream.",
      with: (_failed, call) => streaming(call),
    },
  }),
  mutation("provider.failover-names-another-model", {
    breaks: ["UPSTREAM-SAME-MODEL"],
    summary: "A reply of the second provider has that provider's model name.",
    apply: all(
      wrap("nextProvider", (next) => (failed, call) => {
        const chosen = next(failed, call);
        if (chosen !== undefined) lastProvider(call).set(call, failed.length === 0 ? "first" : "other");
        return chosen;
      }),
      onRelayedReply((value, call) =>
        lastProvider(call).get(call) === "other" ? { ...value, model: "other-large-2026" } : value,
      ),
      onRelayedText((text, call) =>
        lastProvider(call).get(call) === "other"
          ? text.replace(/"model":"[^"]*"/g, '"model":"other-large-2026"')
          : text,
      ),
    ),
    detectedBy: { "upstream.failover[messages,streaming,503]": "UPSTREAM-SAME-MODEL" },
  }),
];
