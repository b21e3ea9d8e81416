import * as z from "zod";
import { ConfigError } from "../../../core/index.ts";
import { optional } from "../../../target/index.ts";
import { readTrace, scaleTrace, TRACE_FORMATS } from "../../workload/trace.ts";
import { type ArrivalKind, type MeanTokens, writtenArrivals } from "../arrival-kind.ts";
import type { Schedule, TraceEntry } from "../schedule.ts";
import { rate, whole } from "./written.ts";

interface Replay {
  readonly kind: "replay";
  readonly entries: readonly TraceEntry[];
  readonly speed?: number | undefined;
}

export const replay: ArrivalKind<Replay> = {
  plan({ entries, speed = 1 }) {
    const durationS = (entries.at(-1)?.offsetMs ?? 0) / 1_000 / speed;
    return { requests: entries.length, durationS, peakPerS: peakOf(entries, speed) };
  },
  schedule,
  fixed: "a trace",
  trace: {
    entries: ({ entries }) => entries,
    withEntries: (arrivals, entries) => ({ ...arrivals, entries }),
  },
  meanTokens,
};

export const replayInFile = () =>
  writtenArrivals({
    schema: z.strictObject({
      kind: z.literal("replay"),
      file: z.string().min(1).meta({ description: "Trace file; its path is relative to the workload file." }),
      format: optional(z.enum(TRACE_FORMATS), "default auto: determined by the first line"),
      speed: optional(z.number().positive(), "2 replays it in half the time, at twice the rate; default 1."),
      ratePerS: optional(rate, "Mean rate: requests are dropped or repeated, and the duration stays the same."),
      requests: optional(whole, "Only this many requests from the beginning of the trace."),
    }),
    resolve: (written, fileOf): Replay => ({
      kind: "replay",
      entries: entriesOf(written, fileOf(written.file)),
      speed: written.speed,
    }),
    namesTokens: true,
  });

function entriesOf(written: z.infer<ReturnType<typeof replayInFile>["schema"]>, file: string): readonly TraceEntry[] {
  const entries = scaleTrace(readTrace(file, written.format), written);
  if (entries.length > 0) return entries;
  throw new ConfigError([
    {
      file,
      path: "",
      message: `scaling it to ${written.ratePerS} requests per second leaves no requests. Increase ratePerS.`,
    },
  ]);
}

function schedule({ entries, speed = 1 }: Replay): Schedule {
  let index = 0;
  return {
    next() {
      const entry = entries[index++];
      return entry === undefined ? undefined : (entry.offsetMs * 1_000) / speed;
    },
  };
}

/** Maximum number of trace arrivals within one second. */
function peakOf(entries: readonly TraceEntry[], speed: number): number {
  const perSecond = new Map<number, number>();
  for (const { offsetMs } of entries) {
    const second = Math.floor(offsetMs / 1_000 / speed);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  return Math.max(0, ...perSecond.values());
}

function meanTokens({ entries }: Replay): MeanTokens {
  const meanOf = (of: (entry: TraceEntry) => number) =>
    entries.reduce((sum, entry) => sum + of(entry), 0) / entries.length;
  return {
    inputTokens: meanOf(({ promptTokens }) => promptTokens),
    outputTokens: meanOf(({ maxTokens }) => maxTokens),
  };
}
