import { finding } from "../../../judging/index.ts";
import type { EventFigures, Finding, LoadEvent } from "../../../record/index.ts";

/** Minimum share of served requests before the event; below it, recovery cannot be judged. */
const MIN_SERVED_BEFORE = 0.5;
/** Whole seconds after the time of recovery that show that it lasts; see `eventFigures`. */
const SHOWN_S = 3;

type Named = Pick<Finding, "name"> & { readonly title: string };

/** Judges by how much the longest response time exceeds those before. */
export function judgeDelay(named: Named, { before, longestMs, requests }: EventFigures, addedDelayS: number): Finding {
  const facts = { ...named, requirements: [], expected: `within ${addedDelayS} s`, basis: "timing" as const };
  if (before === null || before.p95Ms === null || requests === 0)
    return finding({ ...facts, undecided: "there are no response times to compare" });
  const addedS = Math.max(0, (longestMs - before.p95Ms) / 1_000);
  const beforeS = (before.p95Ms / 1_000).toFixed(1);
  return finding({
    ...facts,
    met: addedS <= addedDelayS,
    observed: `the longest request took ${(longestMs / 1_000).toFixed(1)} s (before: p95 ${beforeS} s)`,
    magnitude: addedS / addedDelayS,
  });
}

/** Judges how long it takes until outcomes and latency are as before. */
export function judgeRecovery(named: Named, figures: EventFigures, event: LoadEvent, withinS: number): Finding {
  const { before, recoveredS, observedS } = figures;
  const { durationS, undo } = event;
  const fromS = durationS === undefined ? 0 : (undo?.startedS ?? event.atS + durationS) - event.atS;
  const after = durationS === undefined ? "after the event" : "after it was undone";
  const facts = { ...named, requirements: [], expected: `within ${withinS} s`, basis: "timing" as const };
  if (before === null)
    return finding({
      ...facts,
      undecided: "fewer than 3 s with responses before the first event: no baseline. Schedule the event later.",
    });
  if (before.servedShare < MIN_SERVED_BEFORE)
    return finding({
      ...facts,
      undecided: `only ${percent(before.servedShare)} of the requests were served before the first event: no usable baseline`,
    });
  if (recoveredS !== null) {
    const tookS = Math.max(0, recoveredS - fromS);
    return finding({
      ...facts,
      met: tookS <= withinS,
      observed: tookS === 0 ? `recovered ${after}` : `recovered ${tookS.toFixed(0)} s ${after}`,
      magnitude: tookS / withinS,
    });
  }
  if (observedS < fromS + withinS + SHOWN_S)
    return finding({
      ...facts,
      undecided: `not recovered in the ${observedS} s after the event; deciding needs ${Math.ceil(fromS + withinS + SHOWN_S)} s`,
    });
  return finding({
    ...facts,
    met: false,
    observed: `not recovered in the ${observedS} s after the event`,
    magnitude: observedS / withinS,
  });
}

/** A share as text. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value === 0 || value >= 1 ? value.toFixed(1) : value.toPrecision(2)} %`;
}
