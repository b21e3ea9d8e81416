/** What was sent: the main kind of request, the same with one thing changed, or a listing. */
export type RequestKind = "main" | "key" | "dialect" | "model" | "account" | "listing";

/** One request of the analysis and how the limiter decided on it. */
export interface Decision {
  /** 1 is the first request of the analysis; evidence names requests by these numbers. */
  readonly ordinal: number;
  readonly kind: RequestKind;
  /** Best guess of the moment at which the gateway decided, microseconds, monotonic. */
  readonly atUs: number;
  /** How far that may be off, from what the answer took, microseconds. */
  readonly slackUs: number;
  /** `rate`, `concurrency`: denied for it. `failed`: neither served nor denied for a limit. */
  readonly verdict: "admitted" | "rate" | "concurrency" | "failed";
  /** Denied with a 429 that names no limit: taken for the rate's, because few requests are in flight. */
  readonly unnamed?: boolean;
}

/** A decision as the models see it. */
export interface TimedDecision {
  readonly atUs: number;
  readonly slackUs: number;
  /** `other`: it failed, or was denied for something else. It may have used up part of the limit and shows nothing else. */
  readonly verdict: "admitted" | "denied" | "other";
}

/** How a model of a limiter agrees with what was seen. */
export interface Fit {
  readonly kind: "sliding" | "fixed" | "bucket";
  /** Decisions that the model cannot explain, however the clocks are read within their slack. */
  readonly misses: number;
  /** Requests per minute that the model lets through for long, with the range that explains as much. */
  readonly perMinute: number;
  readonly perMinuteRange: readonly [low: number, high: number];
  /** Requests that it lets through at once after a rest. */
  readonly burst: number;
  /** The largest burst that explains as much. */
  readonly mostBurst: number;
  readonly windowUs: number | undefined;
  /** A moment at which a fixed window begins, and how exactly it is known, microseconds. */
  readonly edgeUs: number | undefined;
  readonly edgeSlackUs: number | undefined;
}

export interface FitOptions {
  /** How far the moment of a decision usually lies from `atUs` at most, microseconds. */
  readonly slackUs: number;
  /** Whether denied requests are counted like admitted ones. */
  readonly deniedCount: boolean;
  /** Whether those are counted that failed or were denied for something else. */
  readonly othersCount: boolean;
  /** The minute of "requests per minute", microseconds; 60,000,000 outside tests. */
  readonly minuteUs: number;
}

/** Whether the limiter of a model counts this request. */
export function isCounted({ verdict }: TimedDecision, { deniedCount, othersCount }: FitOptions): boolean {
  return verdict === "admitted" || (verdict === "denied" ? deniedCount : othersCount);
}

/** Places at which a request was admitted and the last decision before it was a denial. */
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
