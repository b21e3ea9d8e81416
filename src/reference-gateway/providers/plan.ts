import type { Random } from "../../core/index.ts";
import type { InferenceRequest } from "../pipeline/read/inference-request.ts";

/** One increment of a reply. `tokens` is how many output tokens it counts as. */
export type Piece =
  | { readonly kind: "text"; readonly text: string; readonly tokens: number }
  | { readonly kind: "toolStart"; readonly id: string; readonly name: string; readonly tokens: number }
  | { readonly kind: "toolInput"; readonly fragment: string; readonly tokens: number };

/** Why a complete reply ended. */
export type Stop = "stop" | "length" | "tools";

/** What a provider sent instead of a reply. */
export interface ProviderFailure {
  /** Status the provider sent; `timeout` if it sent nothing in time. */
  readonly status: number | "timeout";
  /** Body the provider sent, kept for the activity history and never passed on to the caller. */
  readonly body: string;
}

/** A generation of the simulated provider. Fully known at the start, so that the rest is arithmetic. */
export type Plan =
  | {
      readonly kind: "reply";
      /** Milliseconds from the request to the first piece. */
      readonly firstMs: number;
      /** Milliseconds between consecutive pieces. */
      readonly paceMs: number;
      readonly pieces: readonly Piece[];
      readonly stop: Stop;
      readonly inputTokens: number;
      /** Pieces that are sent before the provider fails; absent when it does not. */
      readonly breaksAfter?: number;
    }
  | { readonly kind: "failure"; readonly failure: ProviderFailure; readonly afterMs: number }
  /** Unknown until a real provider has responded. */
  | { readonly kind: "relay"; readonly inputTokens: number; readonly mostOutputTokens: number };

export type ReplyPlan = Extract<Plan, { kind: "reply" }>;

/** Output tokens of the whole plan. */
export function plannedTokens(plan: ReplyPlan): number {
  let tokens = 0;
  for (const piece of plan.pieces) tokens += piece.tokens;
  return tokens;
}

/** Milliseconds from the request to the last piece. */
export function durationMs(plan: Plan): number {
  if (plan.kind === "relay") return 0;
  return plan.kind === "failure" ? plan.afterMs : plan.firstMs + Math.max(0, plan.pieces.length - 1) * plan.paceMs;
}

/** Settings of the simulated providers. */
export interface ProviderSettings {
  /** Pieces of a reply of `echo-stream`. Default: 40. Minimum: 1. */
  readonly pieces: number;
  /** Milliseconds between pieces of `echo-stream`. Default: 50. Minimum: 0. */
  readonly paceMs: number;
  /** Milliseconds that a reply of `slow` takes. Default: 5,000. Minimum: 0. */
  readonly slowMs: number;
  /** Timeout of a provider, milliseconds. Default: 1,500. Minimum: 1. */
  readonly upstreamTimeoutMs: number;
}

/** Turns a request into a plan. Pure: the same request and seed give the same plan. */
export type Provider = (request: InferenceRequest, settings: ProviderSettings, random: Random) => Plan;
