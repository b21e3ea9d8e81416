import type { Finding } from "./finding.ts";

/** A request that holds a slot, or was refused one. Microseconds; 0 for what has not happened. */
export interface HeldSlot {
  readonly sentUs: number;
  readonly headUs: number;
  readonly endUs: number;
  readonly verdict: "admitted" | "rate" | "slot" | "failed" | undefined;
}

/** How long after a slot should be free another request got in, for the slot of an ended and of an abandoned stream. */
export interface Release {
  /** Milliseconds; `undefined` when nothing got in. */
  readonly afterMs: number | undefined;
  /** Requests that were refused meanwhile, for concurrency. */
  readonly refused: number;
  /** The last refusal for concurrency after the slot should have been free, ms; 0 for none. */
  readonly refusedUntilMs: number;
  /** How long it was tried. */
  readonly triedMs: number;
  /** Between two tries, ms. */
  readonly spacingMs: number;
}

export interface SlotFindings {
  readonly inFlight: Finding<number>;
  readonly inFlightRange: readonly [low: number, high: number] | null;
  readonly freedAtEnd: Finding<"at once" | "late">;
  readonly freedOnDisconnect: Finding<"at once" | "late" | "not before the natural end">;
}

/** Refused no later than this a slot counts as freed at once, ms. */
const AT_ONCE_MS = 250;

/**
 * Tells the in-flight limit: as many as surely ran together were allowed; a denial says that no more were than possibly
 * ran. Pure.
 */
export function inferInFlight(holds: readonly HeldSlot[]): Pick<SlotFindings, "inFlight" | "inFlightRange"> {
  const admitted = holds.filter(({ verdict }) => verdict === "admitted");
  const denied = holds.filter(({ verdict }) => verdict === "slot");
  const ends = ({ endUs }: HeldSlot) => (endUs === 0 ? Number.POSITIVE_INFINITY : endUs);
  const low = Math.max(
    0,
    ...admitted.map(({ headUs }) => admitted.filter((one) => one.headUs <= headUs && ends(one) > headUs).length),
  );
  if (denied.length === 0) {
    const rate = holds.filter(({ verdict }) => verdict === "rate").length;
    const why = rate > 0 ? `; the rate came first, ${rate} times: longer streams would show it` : "";
    return {
      inFlight: none(`${low} ran together and none was denied for concurrency${why}`),
      inFlightRange: [low, Number.POSITIVE_INFINITY],
    };
  }
  const high = Math.min(
    ...denied.map((denial) => admitted.filter((one) => one.sentUs < denial.endUs && ends(one) > denial.sentUs).length),
  );
  const evidence = `${low} surely ran together; the first of ${denied.length} denials for concurrency came with ${high} at most running`;
  if (low === high) return { inFlight: { answer: low, confidence: "high", evidence }, inFlightRange: [low, high] };
  if (low < high) return { inFlight: { answer: high, confidence: "medium", evidence }, inFlightRange: [low, high] };
  return {
    inFlight: none(`${evidence}: denied with fewer running than were let in before`),
    inFlightRange: [high, low],
  };
}

/** When a slot is free again, from what got in after a stream ended and after one was left. Pure. */
export function inferRelease(
  end: Release | undefined,
  leave: Release | undefined,
): Pick<SlotFindings, "freedAtEnd" | "freedOnDisconnect"> {
  return {
    freedAtEnd:
      end?.afterMs === undefined || end.refused === 0
        ? none(
            end === undefined
              ? "the concurrency limit was never reached"
              : `nothing got in within ${Math.round(end.triedMs)} ms`,
          )
        : { answer: speedOf(end), confidence: "high", evidence: told(end, "the first stream had ended") },
    freedOnDisconnect: disconnect(leave),
  };
}

function disconnect(leave: Release | undefined): SlotFindings["freedOnDisconnect"] {
  if (leave === undefined) return none("the concurrency limit was never reached");
  if (leave.afterMs !== undefined)
    return { answer: speedOf(leave), confidence: "high", evidence: told(leave, "a client had left its stream") };
  if (leave.refused === 0) return none("no try was refused for concurrency");
  return {
    answer: "not before the natural end",
    confidence: leave.triedMs >= 1_000 ? "high" : "low",
    evidence: `${leave.refused} tries in ${Math.round(leave.triedMs)} ms were all refused, until other streams ended`,
  };
}

/** Late is what was refused late: that nothing was tried, or was denied for the rate, is no sign. */
function speedOf({ refusedUntilMs }: Release): "at once" | "late" {
  return refusedUntilMs <= AT_ONCE_MS ? "at once" : "late";
}

function told({ afterMs = 0, refused, spacingMs }: Release, what: string): string {
  return `a request got in ${Math.round(afterMs)} ms after ${what}, tried every ${Math.round(spacingMs)} ms; ${refused} were refused before`;
}

const none = (evidence: string) => ({ answer: null, confidence: "none" as const, evidence });
