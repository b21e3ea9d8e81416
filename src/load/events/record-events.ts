import type { EventFigures, JudgedPhase, LoadEvent } from "../../record/index.ts";
import { countsJudgedByEvent, type EventTimes, eventFigures } from "./event-figures.ts";
import type { ExecutedEvent } from "./event-runner.ts";
import type { EventCount, EventCounts } from "./event-tally.ts";

export interface RecordedEvents {
  readonly executed: readonly ExecutedEvent[];
  readonly counts: readonly EventCounts[];
  /** Start of the measurement, seconds from the start of the run. */
  readonly startS: number;
  /** Whether the next request waits for a response. */
  readonly isClosed: boolean;
}

/** What the record says about the events of a run, and the requests that their expectations judge. */
export function recordEvents({ executed, counts, startS, isClosed }: RecordedEvents): {
  readonly events: LoadEvent[];
  readonly judged: EventCount[];
} {
  const times = executed.map(({ event, execution, undo }): EventTimes => {
    const { atS, windowS, durationS } = event;
    const lastS = Math.max(execution?.endedS ?? 0, durationS === undefined ? 0 : (undo?.endedS ?? 0));
    return { atS, windowS, endedS: Math.max(0, lastS - startS - atS) };
  });
  const events = executed.map(({ event, execution, undo }, index): LoadEvent => {
    const { name, atS, durationS } = event;
    return {
      name,
      atS: startS + atS,
      ...(durationS === undefined ? {} : { durationS }),
      execution: execution ?? null,
      ...(undo === undefined ? {} : { undo }),
      figures: execution === undefined ? null : eventFigures(counts, times, { index, isClosed }),
    };
  });
  const judged = executed.flatMap(({ event: { expect } }, index) =>
    judgedCounts(counts[index], events[index]?.figures, {
      failed: expect.failed !== undefined,
      retryable: expect.retryable !== undefined,
    }),
  );
  return { events, judged };
}

function judgedCounts(
  counts: EventCounts | undefined,
  figures: EventFigures | null | undefined,
  judged: { readonly failed: boolean; readonly retryable: boolean },
): EventCount[] {
  return counts === undefined || !figures ? [] : countsJudgedByEvent(counts, figures.windowS, judged);
}

type Totals = Readonly<Record<"sent" | "admitted" | "denied" | "failed" | "invalid" | "dropped", number>> &
  Pick<JudgedPhase, "denials" | "failures" | "invalidReplies">;

/** The totals of a load without the requests that the expectations of its events judge. */
export function withoutJudged<T extends Totals>(totals: T, judged: readonly EventCount[]): T {
  const countOf = (outcomes: readonly EventCount["outcome"][]) =>
    judged.reduce((sum, { outcome, count }) => (outcomes.includes(outcome) ? sum + count : sum), 0);
  const reduced = (entries: JudgedPhase["failures"], outcomes: readonly EventCount["outcome"][]) =>
    entries.flatMap((entry) => {
      const found = judged.filter(({ outcome, what }) => outcomes.includes(outcome) && what === entry.what);
      const count = entry.count - found.reduce((sum, one) => sum + one.count, 0);
      return count > 0 ? [{ ...entry, count }] : [];
    });
  return {
    ...totals,
    sent: totals.sent - judged.reduce((sum, { count }) => sum + count, 0),
    denied: totals.denied - countOf(["denied"]),
    failed: totals.failed - countOf(["failed", "unfinished"]),
    invalid: totals.invalid - countOf(["invalid"]),
    denials: byReason(totals.denials, judged),
    failures: reduced(totals.failures, ["failed", "unfinished"]),
    invalidReplies: reduced(totals.invalidReplies, ["invalid"]),
  };
}

/** Denials are listed by reason, dialect and mode; the events do not count dialects. */
function byReason(denials: JudgedPhase["denials"], judged: readonly EventCount[]): JudgedPhase["denials"] {
  const left = judged.filter(({ outcome }) => outcome === "denied").map((count) => ({ ...count }));
  return denials.flatMap((denial) => {
    const found = left.find(({ what, stream }) => what === denial.reason && stream === denial.stream);
    const fewer = Math.min(found?.count ?? 0, denial.count);
    if (found !== undefined) found.count -= fewer;
    return denial.count === fewer ? [] : [{ ...denial, count: denial.count - fewer }];
  });
}
