import { tQuantile } from "../../../core/index.ts";
import type { JudgedRun, LoadEvent } from "../../../record/index.ts";

/** What the gateway used for a request before and during an event, with the 95 % interval of their ratio. */
export interface RequestUsage {
  /** Milliseconds of CPU time, or bytes. */
  readonly before: number;
  readonly during: number;
  readonly ratio: { readonly value: number; readonly low: number; readonly high: number };
}

export interface UsageKind {
  readonly what: string;
  readonly unit: string;
  /** Minimum for the value before the event: if nothing was logged before, one short line must not count as a huge increase. */
  readonly least: number;
  /** Precision of a sample. */
  readonly resolution: number;
  /** CPU time also depends on what else the machine does. */
  readonly basis: "timing" | "content";
}

/** A log line of a hundred bytes, and half a millisecond: clock ticks are 10 ms, so less cannot be distinguished in a minute. */
export const CPU: UsageKind = { what: "CPU time", unit: "ms", least: 0.5, resolution: 10, basis: "timing" };
export const LOG: UsageKind = { what: "log output", unit: "bytes", least: 100, resolution: 0, basis: "content" };

/** Seconds before the first event that are compared. */
const MAX_BEFORE_S = 60;
/** Fewer samples, or requests, show no level. */
const MIN_SAMPLES = 5;
const MIN_REQUESTS = 20;

/** What was used between two samples. */
interface Slice {
  readonly fromS: number;
  readonly toS: number;
  /** `null`: unknown, because a process or a file was replaced. */
  readonly used: number | null;
}

/** Use between samples, ms or bytes; `undefined` if nothing was sampled. */
export function slicesOf(kind: UsageKind, watched: JudgedRun["watched"]): Slice[] | undefined {
  const samples =
    kind === CPU
      ? watched?.processes?.samples.map(({ atS, cpuShare }) => ({ atS, used: cpuShare, isShare: true }))
      : watched?.logs?.samples.map(({ atS, bytes }) => ({ atS, used: bytes, isShare: false }));
  return samples?.slice(1).map(({ atS, used, isShare }, index) => {
    const fromS = samples[index]?.atS ?? atS;
    return { fromS, toS: atS, used: used === null ? null : isShare ? used * (atS - fromS) * 1_000 : used };
  });
}

interface Period {
  readonly name: string;
  readonly fromS: number;
  readonly toS: number;
}

/** The time before the first event, and while this one lasted; seconds from the start of the run. */
function periodsOf({ atS, execution, undo, figures, durationS }: LoadEvent, firstAtS: number, startS: number) {
  const lasts = durationS !== undefined && undo !== undefined && execution !== null;
  return {
    before: { name: "before the event", fromS: Math.max(startS, firstAtS - MAX_BEFORE_S), toS: firstAtS },
    during: {
      name: "during the event",
      fromS: lasts ? execution.endedS : atS,
      toS: lasts ? undo.startedS : atS + (figures?.windowS ?? 0),
    },
  };
}

/** @returns why it is unknown, as text, or what was used for a request. */
export function requestUsage(
  kind: UsageKind,
  event: LoadEvent,
  { events = [], phases, watched }: Pick<JudgedRun, "events" | "phases" | "watched">,
): RequestUsage | string {
  const slices = slicesOf(kind, watched);
  const [phase] = phases;
  const [first] = events;
  if (slices === undefined || phase === undefined || first === undefined)
    return `${kind.what} was not measured: only \`gauntlet load\` samples it${kind === CPU ? ", on Linux" : ""}`;
  const periods = periodsOf(event, first.atS, phase.startS);
  const before = usageIn(periods.before, kind, slices, phase);
  if (typeof before === "string") return before;
  const during = usageIn(periods.during, kind, slices, phase);
  if (typeof during === "string") return during;
  const total = slices.reduce((sum, { used }) => sum + (used ?? 0), 0);
  if (total === 0)
    return kind === CPU
      ? "the processes of processes.pidFiles used no CPU time: they may not be the gateway's"
      : "nothing was written to the files of processes.logs during the whole load: they may not be the gateway's logs";
  const isLeast = before.value < kind.least;
  const base = isLeast ? kind.least : before.value;
  const value = during.value / base;
  const relative = Math.hypot(
    during.value === 0 ? 0 : during.error / during.value,
    isLeast ? 0 : before.error / before.value,
  );
  const factor = Math.exp(tQuantile(0.975, Math.min(during.samples, before.samples) - 1) * relative);
  return {
    before: before.value,
    during: during.value,
    ratio: { value, low: value / factor, high: value * factor },
  };
}

interface MeasuredUsage {
  readonly value: number;
  /** Standard error. */
  readonly error: number;
  readonly samples: number;
}

function usageIn(
  { name, fromS, toS }: Period,
  { what, resolution }: UsageKind,
  slices: readonly Slice[],
  { series }: JudgedRun["phases"][number],
): MeasuredUsage | string {
  const inside = slices.filter((slice) => slice.fromS >= fromS && slice.toS <= toS);
  const broken = inside.find(({ used }) => used === null);
  if (broken !== undefined)
    return `${what} ${name} is unknown: a process or a file was replaced, truncated or missing ${broken.toS.toFixed(0)} s after the start of the load`;
  const parts = inside.map((slice) => ({ used: slice.used ?? 0, requests: sentIn(slice, series) }));
  const used = parts.reduce((sum, part) => sum + part.used, 0);
  const requests = parts.reduce((sum, part) => sum + part.requests, 0);
  if (parts.length < MIN_SAMPLES || requests < MIN_REQUESTS)
    return `${what} ${name}: only ${parts.length} samples with ${Math.floor(requests)} requests; ${MIN_SAMPLES} samples and ${MIN_REQUESTS} requests are needed`;
  const value = used / requests;
  const residual = parts.reduce((sum, part) => sum + (part.used - value * part.requests) ** 2, 0);
  const spread = Math.sqrt((residual * parts.length) / (parts.length - 1)) / requests;
  return { value, error: Math.hypot(spread, (resolution * Math.SQRT2) / requests), samples: parts.length };
}

/** Requests sent within a slice, if those of a second are spread evenly. */
function sentIn({ fromS, toS }: Slice, series: JudgedRun["phases"][number]["series"]): number {
  return series.reduce(
    (sum, { atS, sent }) => sum + sent * Math.max(0, Math.min(toS, atS + 1) - Math.max(fromS, atS)),
    0,
  );
}
