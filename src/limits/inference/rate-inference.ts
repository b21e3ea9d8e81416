import type { Inference } from "./inference.ts";
import type { ScopeInferences } from "./scopes.ts";

export type WindowKind = "fixed window" | "clock-aligned window" | "sliding window" | "token bucket" | "paced";

export interface RateInference {
  readonly kind: Inference<WindowKind>;
  /** Requests per minute that are admitted in the long run. */
  readonly perMinute: Inference<number>;
  readonly perMinuteRange: readonly [low: number, high: number] | null;
  /** Requests that are admitted at once after a rest. */
  readonly burst: Inference<number>;
  readonly windowS: number | null;
  readonly deniedCount: Inference<"yes" | "no" | "makes no difference">;
  readonly listingCounts: Inference<"yes" | "no">;
  readonly scopes: ScopeInferences;
  /** For every model that was tried: how many attempts it leaves unexplained. */
  readonly fits: readonly { readonly kind: string; readonly misses: number }[];
}

/** What the requests show under one assumption about those that failed or were denied for another reason. */
export interface Assumed {
  readonly rate: RateInference;
  /** Requests that the best model leaves unexplained. */
  readonly misses: number;
  /** Requests that the limiter may have decided on. */
  readonly requests: number;
  /** How many of these failed or were denied for another reason. */
  readonly others: number;
}

/** A result in which nothing could be inferred, with the reason. */
export function nothingKnown(why: string): Omit<RateInference, "scopes" | "fits"> {
  return {
    kind: none(why),
    perMinute: none(why),
    perMinuteRange: null,
    burst: none(why),
    windowS: null,
    deniedCount: none(why),
    listingCounts: none(why),
  };
}

export const none = (evidence: string) => ({ value: null, confidence: "none" as const, evidence });
