import { formatNumber } from "../../../core/index.ts";
import { finding } from "../../../judging/index.ts";
import type { Finding, JudgedRun, LoadEvent } from "../../../record/index.ts";
import { isWithin, type RatioBound } from "../event-bound.ts";
import { requestUsage, type UsageKind } from "./request-usage.ts";

/** Compares what the gateway used per request during an event with what it used before. */
export function judgeUsage(
  named: Pick<Finding, "name"> & { readonly title: string },
  { kind, bound }: { readonly kind: UsageKind; readonly bound: RatioBound },
  event: LoadEvent,
  run: Pick<JudgedRun, "events" | "phases" | "watched">,
): Finding {
  const facts = { ...named, requirements: [], expected: `${bound.text} of that before`, basis: kind.basis };
  const use = requestUsage(kind, event, run);
  if (typeof use === "string") return finding({ ...facts, undecided: use });
  const { before, during, ratio } = use;
  const figure = (value: number) => `${formatNumber(value, value < 10 ? 1 : 0)} ${kind.unit}`;
  const base = before < kind.least ? ` (raised to the minimum of ${figure(kind.least)})` : "";
  const observed = `${kind.what} per request: ${figure(during)} during the event, ${figure(before)} before${base}: ${times(ratio.value)} (95 % interval ${times(ratio.low)} to ${times(ratio.high)})`;
  const met = isWithin(ratio, bound);
  if (met === undefined)
    return finding({
      ...facts,
      undecided: `${observed}: too few requests to decide ${bound.text}. Make the event longer`,
    });
  return finding({ ...facts, met, observed, magnitude: ratio.value / bound.value });
}

const times = (ratio: number): string => `${ratio.toFixed(ratio < 10 ? 1 : 0)}x`;
