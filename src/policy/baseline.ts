import { createHash } from "node:crypto";
import * as z from "zod";
import { ConfigError, messageOf, UsageError } from "../core/index.ts";
import { type ComparedMetric, type LoadRun, type RunRecord, STATUSES } from "../record/index.ts";
import { measuredValue } from "./figure.ts";
import { parseThreshold, type Threshold } from "./threshold.ts";

const machineSchema = z.strictObject({
  platform: z.string(),
  cpuModel: z.string(),
  cpus: z.int(),
  /** Whole GiB: how much the system reserves for itself varies. */
  memoryGiB: z.int(),
  nodeMajor: z.int(),
});

const acceptedFrom = z.strictObject({
  runId: z.string(),
  startedAt: z.string(),
  target: z.string(),
  build: z.string().optional(),
  harness: z.string(),
});

const performanceSchema = z.strictObject({
  /** Tier or workload by name, and the hash of the requested workload. */
  tier: z.string(),
  workload: z.string(),
  machine: machineSchema,
  from: acceptedFrom,
  figures: z.record(z.string(), z.strictObject({ value: z.number(), samples: z.int() })),
});

export const baselineSchema = z.strictObject({
  schemaVersion: z.literal(1),
  conformance: z.strictObject({ from: acceptedFrom, checks: z.record(z.string(), z.enum(STATUSES)) }).nullable(),
  performance: z.array(performanceSchema),
});

export type BaselineFile = z.infer<typeof baselineSchema>;
export type Machine = z.infer<typeof machineSchema>;

/** Properties that make two machines comparable for performance figures. */
export function machineOf({ environment }: RunRecord): Machine {
  return {
    platform: environment.platform,
    cpuModel: environment.cpuModel,
    cpus: environment.cpus,
    memoryGiB: Math.round(environment.memoryBytes / 2 ** 30),
    nodeMajor: Number(/^v?(\d+)/.exec(environment.node)?.[1] ?? 0),
  };
}

/** The requested workload: figures of different workloads are not comparable. */
export function workloadKey(run: LoadRun): string {
  return createHash("sha256")
    .update(JSON.stringify({ kind: run.kind, engine: run.engine, limits: run.limits, workload: run.workload }))
    .digest("hex")
    .slice(0, 16);
}

const STATS = ["p50", "p90", "p99"] as const;
const DISTRIBUTIONS = ["response_ms", "service_ms", "ttft_ms", "event_gap_ms", "per_token_ms"] as const;
const SINGLES = [
  "admitted_share",
  "denied_share",
  "failed_share",
  "goodput_share",
  "admitted_per_s",
  "goodput_per_s",
  "retry_after_sufficient",
] as const;
/** Metrics of each class that are not distributions. */
const SINGLES_OF_CLASSES = ["tokens_per_reply"] as const;

/** Figures by name. */
export type NamedFigures = Record<string, { readonly value: number; readonly samples: number }>;

/** Figures of one load run by name, such as `ttft_ms{dialect=chat,phase=at-rate-limit,stream=true} p99`. */
export function figuresOf(record: RunRecord, run: LoadRun): NamedFigures {
  const only: RunRecord = { ...record, load: { runs: [run] } };
  const figures: NamedFigures = {};
  const note = (threshold: Threshold) => {
    const figure = measuredValue(only, threshold);
    if (figure !== undefined) figures[figureName(threshold)] = { ...figure, value: round(figure.value) };
  };
  for (const phase of run.phases) {
    const classes = new Set(phase.classes.map(({ dialect, stream }) => `dialect=${dialect},stream=${stream}`));
    for (const scope of [...classes].sort()) {
      for (const metric of DISTRIBUTIONS) {
        for (const stat of STATS) note(threshold(`${metric}{phase=${phase.name},${scope}} ${stat} < 0`));
      }
      for (const metric of SINGLES_OF_CLASSES) note(threshold(`${metric}{phase=${phase.name},${scope}} < 0`));
    }
    for (const metric of SINGLES) {
      note(threshold(metric === "retry_after_sufficient" ? `${metric} < 0` : `${metric}{phase=${phase.name}} < 0`));
    }
  }
  return Object.fromEntries(Object.entries(figures).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Unit of a figure by its name, and which direction is worse. */
export function directionOf(name: string): Pick<ComparedMetric, "unit" | "worse"> {
  if (/^tokens_per_reply|: tokens_per_reply/.test(name)) return { unit: "tokens", worse: "lower" };
  return {
    unit: /share|sufficient/.test(name) ? "share" : /per_s/.test(name) ? "per s" : "ms",
    worse: /admitted|goodput|sufficient/.test(name) ? "lower" : "higher",
  };
}

function threshold(text: string): Threshold {
  const read = parseThreshold(text);
  if (typeof read === "string") throw new UsageError(`the baseline cannot name "${text}": it ${read}`);
  return read;
}

/** The name of a threshold's figure in a baseline: the entry holds its tier. */
export function figureName({ metric, labels, stat }: Threshold): string {
  const listed = Object.entries(labels)
    .filter(([label]) => label !== "tier")
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, value]) => `${label}=${value}`);
  return [`${metric}${listed.length === 0 ? "" : `{${listed.join(",")}}`}`, ...(stat === undefined ? [] : [stat])].join(
    " ",
  );
}

/** Six digits are more than any run reproduces, and they keep the file readable. */
function round(value: number): number {
  return Number(value.toPrecision(6));
}

/**
 * Adds a run to a baseline. What the run did not measure stays unchanged.
 *
 * @throws UsageError if the run cannot serve as a baseline.
 */
export function acceptBaseline(before: BaselineFile | undefined, record: RunRecord): BaselineFile {
  if (!record.complete)
    throw new UsageError("a run that was cut short cannot be a baseline", { hint: "Let it run to its end." });
  const runs = record.load?.runs ?? [];
  const invalid = runs.find(({ generator }) => !generator.valid);
  if (invalid !== undefined) {
    throw new UsageError(
      `this machine was too busy to judge timing in ${invalid.name}: ${invalid.generator.problems.join("; ")}`,
      {
        hint: "Run it on a machine that only runs the generator.",
      },
    );
  }
  if (record.checks.length === 0 && runs.length === 0) throw new UsageError("the run judged nothing");
  const from = {
    runId: record.runId,
    startedAt: record.startedAt,
    target: record.target.name,
    ...(record.target.build === undefined ? {} : { build: record.target.build }),
    harness: record.harness.version,
  };
  const machine = machineOf(record);
  const entries = runs.map((run) => ({
    tier: run.name,
    workload: workloadKey(run),
    machine,
    from,
    figures: figuresOf(record, run),
  }));
  const replaced = new Set(entries.map(keyOf));
  const kept = (before?.performance ?? []).filter((entry) => !replaced.has(keyOf(entry)));
  const checks = Object.fromEntries(
    record.checks.map(({ id, status }) => [id, status] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return {
    schemaVersion: 1,
    conformance: record.checks.length === 0 ? (before?.conformance ?? null) : { from, checks },
    performance: [...kept, ...entries].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
  };
}

function keyOf({ tier, workload, machine }: BaselineFile["performance"][number]): string {
  return JSON.stringify([tier, workload, machine]);
}

/** @throws ConfigError if the file is not a baseline. */
export function parseBaseline(text: string, file: string): BaselineFile {
  try {
    return baselineSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new ConfigError([{ file, path: "", message: `is not a baseline: ${messageOf(error)}` }], {
      hint: "`gauntlet baseline accept DIR` writes one.",
      cause: error,
    });
  }
}

export function baselineText(baseline: BaselineFile): string {
  return `${JSON.stringify(baseline, null, 1)}\n`;
}

/** A baseline figure, or why there is none. */
export type BaselineFigure =
  | { readonly value: number }
  | { readonly why: "missing" | "other-machine"; readonly message: string };

/**
 * The accepted figure that a threshold refers to, for every load run that it applies to: the figure that is hardest to meet
 * decides.
 */
export function baselineFigure(
  baseline: BaselineFile | undefined,
  record: RunRecord,
  threshold: Threshold,
): BaselineFigure {
  if (baseline === undefined) return { why: "missing", message: "no baseline exists" };
  const tier = threshold.labels["tier"];
  const runs = (record.load?.runs ?? []).filter(({ name }) => tier === undefined || tier === name);
  const name = figureName(threshold);
  const machine = JSON.stringify(machineOf(record));
  const values: number[] = [];
  for (const run of runs) {
    const entries = baseline.performance.filter(
      (entry) => entry.tier === run.name && entry.workload === workloadKey(run) && entry.figures[name] !== undefined,
    );
    const here = entries.find((entry) => JSON.stringify(entry.machine) === machine);
    if (here === undefined) {
      return entries.length > 0
        ? {
            why: "other-machine",
            message: "the baseline was accepted on another machine, which is not comparable with this one",
          }
        : { why: "missing", message: `the baseline has no ${name} for ${run.name}` };
    }
    values.push(here.figures[name]?.value ?? Number.NaN);
  }
  if (values.length === 0) return { why: "missing", message: "no measurement matches it" };
  return { value: threshold.operator.startsWith(">") ? Math.max(...values) : Math.min(...values) };
}
