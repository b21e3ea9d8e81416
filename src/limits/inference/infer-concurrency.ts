import type { Inference } from "./inference.ts";

/** A long request that was admitted or denied. Microseconds; `undefined` for events that have not happened. */
export interface HeldRequest {
  readonly sentUs: number;
  readonly headUs: number | undefined;
  readonly endUs: number | undefined;
  readonly verdict: "admitted" | "rate" | "concurrency" | "failed" | undefined;
}

/** How long after a stream ended or was abandoned another request was admitted. */
export interface Release {
  /** Milliseconds; `undefined` if none was admitted. */
  readonly afterMs: number | undefined;
  /** Concurrency denials meanwhile. */
  readonly denied: number;
  /** The last concurrency denial after there should have been room, ms; 0 if there was none. */
  readonly deniedUntilMs: number;
  /** How long requests were sent, ms. */
  readonly triedMs: number;
  /** Interval between two attempts, ms. */
  readonly spacingMs: number;
}

export interface ConcurrencyInference {
  readonly inFlight: Inference<number>;
  readonly inFlightRange: readonly [low: number, high: number] | null;
  readonly freedAtEnd: Inference<"at once" | "late">;
  readonly freedOnDisconnect: Inference<"at once" | "late" | "not before the natural end">;
}

/** If the last denial was at most this late, room counts as available immediately, ms. */
const AT_ONCE_MS = 250;

/**
 * Infers the in-flight limit: at least as many as certainly ran together are allowed; a denial shows that no more are allowed
 * than possibly ran. Pure.
 */
export function inferConcurrency(
  holds: readonly HeldRequest[],
): Pick<ConcurrencyInference, "inFlight" | "inFlightRange"> {
  const admitted = holds.filter(({ verdict }) => verdict === "admitted");
  const denied = holds.filter(({ verdict }) => verdict === "concurrency");
  const ends = ({ endUs }: HeldRequest) => endUs ?? Number.POSITIVE_INFINITY;
  const heads = admitted.flatMap(({ headUs }) => headUs ?? []);
  const low = Math.max(
    0,
    ...heads.map((headUs) => admitted.filter((one) => (one.headUs ?? 0) <= headUs && ends(one) > headUs).length),
  );
  if (denied.length === 0) {
    const rate = holds.filter(({ verdict }) => verdict === "rate").length;
    const why = rate > 0 ? `; the rate limit denied ${rate} requests first: longer streams would show it` : "";
    return {
      inFlight: none(
        `${low === 0 ? "no requests overlapped" : `${low} ran together, and none was denied by the concurrency limit`}${why}`,
      ),
      inFlightRange: [low, Number.POSITIVE_INFINITY],
    };
  }
  const high = Math.min(
    ...denied.map((denial) => admitted.filter((one) => one.sentUs < ends(denial) && ends(one) > denial.sentUs).length),
  );
  const evidence = `${low} certainly ran together; the first of ${denied.length} concurrency denials arrived with at most ${high} running`;
  if (low === high) return { inFlight: { value: low, confidence: "high", evidence }, inFlightRange: [low, high] };
  if (low < high) return { inFlight: { value: high, confidence: "medium", evidence }, inFlightRange: [low, high] };
  return {
    inFlight: none(`${evidence}: denied with fewer running than were admitted before`),
    inFlightRange: [high, low],
  };
}

/** When room is available again, from what was admitted after a stream ended and after one was aborted. Pure. */
export function inferRelease(
  end: Release | undefined,
  leave: Release | undefined,
): Pick<ConcurrencyInference, "freedAtEnd" | "freedOnDisconnect"> {
  return {
    freedAtEnd:
      end?.afterMs === undefined || end.denied === 0
        ? none(
            end === undefined
              ? "the concurrency limit was never reached"
              : `nothing was admitted within ${Math.round(end.triedMs)} ms`,
          )
        : { value: speedOf(end), confidence: "high", evidence: describe(end, "the first stream had ended") },
    freedOnDisconnect: disconnect(leave),
  };
}

function disconnect(leave: Release | undefined): ConcurrencyInference["freedOnDisconnect"] {
  if (leave === undefined) return none("the concurrency limit was never reached");
  if (leave.afterMs !== undefined)
    return { value: speedOf(leave), confidence: "high", evidence: describe(leave, "a client had aborted its stream") };
  if (leave.denied === 0) return none("no attempt was denied by the concurrency limit");
  return {
    value: "not before the natural end",
    confidence: leave.triedMs >= 1_000 ? "high" : "low",
    evidence: `${leave.denied} attempts in ${Math.round(leave.triedMs)} ms were all denied, until other streams ended`,
  };
}

/** Late only if denied late: a lack of attempts, or rate denials, show nothing. */
function speedOf({ deniedUntilMs }: Release): "at once" | "late" {
  return deniedUntilMs <= AT_ONCE_MS ? "at once" : "late";
}

function describe({ afterMs = 0, denied, spacingMs }: Release, what: string): string {
  return `a request was admitted ${Math.round(afterMs)} ms after ${what}, tried every ${Math.round(spacingMs)} ms; ${denied} were denied before`;
}

const none = (evidence: string) => ({ value: null, confidence: "none" as const, evidence });
