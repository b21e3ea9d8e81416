/** What was sent: the main kind of request, the same with one change, or a listing. */
export type RequestKind = "main" | "key" | "dialect" | "model" | "account" | "listing";

/** One request of the analysis and what the limiter decided. */
export interface Decision {
  /** 1 is the first request of the analysis; evidence refers to requests by these numbers. */
  readonly ordinal: number;
  readonly kind: RequestKind;
  /** Best estimate of the time at which the gateway decided, microseconds, monotonic. */
  readonly atUs: number;
  /** Maximum error of that estimate, from the response time, microseconds. */
  readonly slackUs: number;
  /** `rate`, `concurrency`: denied by that limit. `failed`: neither served nor denied by a limit. */
  readonly verdict: "admitted" | "rate" | "concurrency" | "failed";
  /** Denied with a 429 that names no limit: treated as a rate denial, because few requests are in flight. */
  readonly unnamed?: boolean;
}

/** A decision as the models see it. */
export interface TimedDecision {
  readonly atUs: number;
  readonly slackUs: number;
  /** `other`: it failed, or was denied for another reason. It may have used up part of the limit but shows nothing else. */
  readonly verdict: "admitted" | "denied" | "other";
}

/** How well a model of a limiter fits the observations. */
export interface Fit {
  readonly kind: "sliding" | "fixed" | "bucket";
  /** Decisions that the model cannot explain, however the clocks are adjusted within their slack. */
  readonly misses: number;
  /** Requests per minute that the model admits in the long run, with the range that fits equally well. */
  readonly perMinute: number;
  readonly perMinuteRange: readonly [low: number, high: number];
  /** Requests that it admits at once after a rest. */
  readonly burst: number;
  /** The largest burst that fits equally well. */
  readonly mostBurst: number;
  readonly windowUs: number | undefined;
  /** A moment at which a fixed window starts, and how precisely it is known, microseconds. */
  readonly edgeUs: number | undefined;
  readonly edgeSlackUs: number | undefined;
}

export interface FitOptions {
  /** Usual maximum distance between the time of a decision and `atUs`, microseconds. */
  readonly slackUs: number;
  /** Whether denied requests count like admitted ones. */
  readonly deniedCount: boolean;
  /** Whether requests count that failed or were denied for another reason. */
  readonly othersCount: boolean;
  /** Length of the minute in "requests per minute", microseconds; 60,000,000 outside tests. */
  readonly minuteUs: number;
}

/** Whether the modelled limiter counts this request. */
export function isCounted({ verdict }: TimedDecision, { deniedCount, othersCount }: FitOptions): boolean {
  return verdict === "admitted" || (verdict === "denied" ? deniedCount : othersCount);
}

/** Indexes of each admission that follows a denial, and of that denial; decisions with the verdict `other` are ignored. */
export function returnsOf(
  attempts: readonly TimedDecision[],
): { readonly denial: number; readonly admission: number }[] {
  let last: number | undefined;
  return attempts.flatMap(({ verdict }, admission) => {
    if (verdict === "other") return [];
    const denial = last;
    last = admission;
    const isReturn = verdict === "admitted" && denial !== undefined && attempts[denial]?.verdict === "denied";
    return isReturn ? [{ denial, admission }] : [];
  });
}
