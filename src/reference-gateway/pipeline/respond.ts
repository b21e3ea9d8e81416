import { seededRandom } from "../../core/index.ts";
import { durationMs, type ReplyPlan } from "../providers/plan.ts";
import { relay } from "../relay/relay.ts";
import { StoreUnavailableError } from "../shared/shared-log.ts";
import type { Call, CheckName } from "./behaviour.ts";
import { refusal } from "./refusal.ts";
import type { GatewayResponse, Header } from "./response.ts";
import { reserve } from "./spending.ts";
import { countTokens } from "./tokens.ts";

/**
 * Checks a request and starts its generation. Everything between the first check and the lease is synchronous, and one transaction
 * of the replicas, so that two requests can never both be the last within the limit.
 */
export function respond(call: Call): GatewayResponse | Promise<GatewayResponse> {
  const { shared } = call.services;
  if (shared === undefined) return decide(call);
  try {
    return shared.run(() => decide(call));
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    // Without the counters of all replicas, nobody can tell whether a limit is reached.
    return call.behaviour.refuse(refusal("store_unavailable", { waitMs: STORE_WAIT_MS }), call);
  }
}

/** Wait in the response to a request that is refused because the shared state is unavailable, ms. */
const STORE_WAIT_MS = 900;

function decide(call: Call): GatewayResponse | Promise<GatewayResponse> {
  const { behaviour, endpoint, arrival } = call;
  if (arrival.purpose !== "serve") return respondToUnserved(call);
  const checks = endpoint === "models" ? behaviour.listingChecks : behaviour.inferenceChecks;
  for (const name of checks) {
    const refused = behaviour.check(name, call);
    if (refused !== undefined) return behaviour.refuse(refused, call);
  }
  const headers = admit(call, checks);
  if (endpoint !== "models") return generate(call, headers);
  return {
    status: 200,
    headers,
    body: { kind: "json", value: behaviour.listModels(call) },
    afterMs: 0,
    outcome: "complete",
  };
}

/** Counts the request and takes its lease. @returns the headers with the state of the limits. */
function admit(call: Call, checks: readonly CheckName[]): Header[] {
  const { key, behaviour, services, model, request } = call;
  if (model !== undefined && request !== undefined) call.plan = behaviour.plan(model, request, call);
  // A mutation serves a request with an unknown key, which belongs to no account.
  if (key === undefined) return [];
  const nowUs = services.clock.monotonicUs();
  const headers: Header[] = [];
  if (checks.includes("rate")) {
    const limiter = behaviour.limiterOf(key, call);
    behaviour.countRate(limiter, call);
    services.shared?.add({ kind: "rate", account: key.account.id, atUs: nowUs });
    headers.push(["X-RateLimit-Limit", String(limiter.limitPerMinute)]);
    headers.push(["X-RateLimit-Remaining", String(limiter.remaining(nowUs))]);
  }
  if (checks.includes("tokens")) headers.push(...countTokens(call));
  if (checks.includes("concurrency")) {
    const lastsMs = call.plan === undefined ? 0 : durationMs(call.plan);
    const expectedEndUs = nowUs + lastsMs * 1_000;
    call.lease = behaviour.concurrencyOf(key, call).take(expectedEndUs);
    services.shared?.add({ kind: "lease", account: key.account.id, id: call.id, expectedEndUs });
  }
  reserve(call);
  return headers;
}

/** Serves a request without counting it, as a gateway that fails open does. */
export function serveUncounted(call: Call): GatewayResponse | Promise<GatewayResponse> {
  for (const name of ["credentials", "body", "model"] as const) {
    const refused = call.behaviour.check(name, call);
    if (refused !== undefined) return call.behaviour.refuse(refused, call);
  }
  if (call.model !== undefined && call.request !== undefined)
    call.plan = call.behaviour.plan(call.model, call.request, call);
  return generate(call, []);
}

function generate(call: Call, headers: readonly Header[]): GatewayResponse | Promise<GatewayResponse> {
  const { plan, request, behaviour } = call;
  if (plan === undefined || request === undefined) throw new Error("a request was admitted without a plan");
  if (plan.kind === "relay") {
    if (call.services.upstream === undefined) throw new Error("a request is for a provider that is not there");
    return relay(call, headers, call.services.upstream);
  }
  if (plan.kind === "failure") {
    return { ...behaviour.refuse(behaviour.upstreamRefusal(plan.failure, call), call), afterMs: plan.afterMs };
  }
  if (request.stream) return streamed(call, plan, headers);
  if (plan.breaksAfter !== undefined) {
    const failure = { status: 502, body: "connection closed in the middle of the reply" } as const;
    return { ...behaviour.refuse(behaviour.upstreamRefusal(failure, call), call), afterMs: durationMs(plan) };
  }
  return {
    status: 200,
    headers,
    body: { kind: "json", value: behaviour.reply(plan, call) },
    afterMs: durationMs(plan),
    outcome: "complete",
  };
}

function streamed(call: Call, plan: ReplyPlan, headers: readonly Header[]): GatewayResponse {
  const broken = plan.breaksAfter !== undefined;
  return {
    status: 200,
    headers,
    body: { kind: "events", events: call.behaviour.events(plan, call), ending: broken ? "abort" : "finish" },
    afterMs: 0,
    outcome: broken ? "broken" : "complete",
  };
}

/** Requests that are not part of the interface; they get a response without a credential. */
function respondToUnserved(call: Call): GatewayResponse {
  const { behaviour, arrival, endpoint } = call;
  if (arrival.purpose === "unknownPath") return behaviour.refuse(refusal("not_found"), call);
  const allow = endpoint === "models" ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
  if (arrival.purpose === "wrongMethod") return behaviour.refuse(refusal("method_not_allowed", { allow }), call);
  return { status: 204, headers: [["Allow", allow]], body: { kind: "none" }, afterMs: 0, outcome: "complete" };
}

/** The default of {@link Behaviour.plan}. */
export function planCall(...[model, request, call]: Parameters<Call["behaviour"]["plan"]>) {
  return model.provider(request, call.services.providers, seededRandom(call.services.seed));
}
