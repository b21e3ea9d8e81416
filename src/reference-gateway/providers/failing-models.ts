import { echoStream } from "./plain-models.ts";
import type { Provider } from "./plan.ts";

/** A credential of the operator at the provider, as providers like to repeat it in their errors. Not a real one. */
export const OPERATOR_KEY = "sk-operator-3f9d0c6a71e84b52";

/** @param status what the provider answers, always. */
export function failing(status: number): Provider {
  const body = JSON.stringify({
    error: {
      message: `The provider failed (${status}). Incorrect key ${OPERATOR_KEY}? See http://10.0.3.17:8080/internal.`,
      type: "provider_error",
    },
  });
  return () => ({ kind: "failure", afterMs: 0, failure: { status, body } });
}

/** Answers with a web page, as the edge in front of a provider does. */
export const failHtml: Provider = () => ({
  kind: "failure",
  afterMs: 0,
  failure: { status: 502, body: "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>" },
});

/** Never answers; the gateway gives up. */
export const failTimeout: Provider = (_ask, { upstreamTimeoutMs }) => ({
  kind: "failure",
  afterMs: upstreamTimeoutMs,
  failure: { status: "timeout", body: "" },
});

/** Breaks off half-way through a long reply. */
export const dropMidstream: Provider = (request, settings, random) => {
  const plan = echoStream(request, settings, random);
  if (plan.kind !== "reply") return plan;
  return { ...plan, breaksAfter: Math.max(1, Math.floor(plan.pieces.length / 2)) };
};
