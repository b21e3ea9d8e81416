import { echoStream } from "./plain-models.ts";
import type { Provider } from "./plan.ts";

/** A fake credential of the operator at the provider, as providers tend to repeat it in their errors. */
export const OPERATOR_KEY = "sk-operator-3f9d0c6a71e84b52";

/** @param status of every response of the provider. */
export function failing(status: number): Provider {
  const body = JSON.stringify({
    error: {
      message: `The provider failed (${status}). Incorrect key ${OPERATOR_KEY}? See http://10.0.3.17:8080/internal.`,
      type: "provider_error",
    },
  });
  return () => ({ kind: "failure", afterMs: 0, failure: { status, body } });
}

/** Responds with a web page, like the edge in front of a provider. */
export const failHtml: Provider = () => ({
  kind: "failure",
  afterMs: 0,
  failure: { status: 502, body: "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>" },
});

/** Never responds; the gateway times out. */
export const failTimeout: Provider = (_ask, { upstreamTimeoutMs }) => ({
  kind: "failure",
  afterMs: upstreamTimeoutMs,
  failure: { status: "timeout", body: "" },
});

/** Interrupts a long reply half-way. */
export const dropMidstream: Provider = (request, settings, random) => {
  const plan = echoStream(request, settings, random);
  if (plan.kind !== "reply") return plan;
  return { ...plan, breaksAfter: Math.max(1, Math.floor(plan.pieces.length / 2)) };
};
