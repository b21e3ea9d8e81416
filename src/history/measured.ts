import { createHash } from "node:crypto";
import {
  figuresOf,
  machineOf,
  measuredValue,
  type NamedFigures,
  parseThreshold,
  whyTooFew,
  workloadKey,
} from "../policy/index.ts";
import { checksOfRun, type RunRecord } from "../record/index.ts";

/** Figures of a run measured with one workload, or produced by one set of checks. */
export interface Measured {
  /** Tier or workload, `checks`, `checks in` a tier or workload, or `overhead`. */
  readonly name: string;
  /** Hash of the requested workload: figures of different workloads are not comparable. */
  readonly workload: string;
  /** The machine that sent the load, as text. */
  readonly machine: string;
  /** Why the figures say nothing about the gateway, if so. */
  readonly problem: string | null;
  /** By names as in a policy: `ttft_ms{dialect=chat,phase=soak,stream=true} p90`. */
  readonly figures: NamedFigures;
}

/** The figures of a run that are kept for trends. */
export function measuredBy(record: RunRecord): Measured[] {
  const { platform, cpuModel, cpus, memoryGiB, nodeMajor } = machineOf(record);
  const machine = `${cpuModel}, ${cpus} CPUs, ${memoryGiB} GiB, ${platform}, Node ${nodeMajor}`;
  const cut = record.complete ? null : "the run was cut short";
  const loads = (record.load?.runs ?? []).map((run): Measured => {
    const problem = cut ?? (run.generator.valid ? null : run.generator.problems.join("; "));
    const own = checksOfRun(record.checks, run).filter(({ suite }) => suite === "load");
    const figures = problem === null ? { ...figuresOf(record, run), ...countsOf(own) } : {};
    const share = run.shard === undefined ? "" : `, shard ${run.shard.index}/${run.shard.of}`;
    return { name: `${run.name}${share}`, workload: workloadKey(run), machine, problem, figures };
  });
  return [...loads, ...byChecks(record, cut), ...byOverhead(record, machine, cut)];
}

const OF_QUANTILE = /^(.+ )(p50|p90|p99)$/;

/** Why a run without a problem has no value for a metric that other runs of the same workload have. */
export function whyMissing(metric: string, figures: NamedFigures): string {
  const [, series, stat] = OF_QUANTILE.exec(metric) ?? [];
  if (series === undefined) return "too few requests were measured";
  const lower = Object.entries(figures).filter(([name]) => name.startsWith(series));
  if (lower.length === 0) return "too few requests of this kind were admitted";
  return whyTooFew(Math.max(...lower.map(([, figure]) => figure.samples)), stat as "p50" | "p90" | "p99");
}

/**
 * The checks of the suites, and for each load the conformance checks of its traffic, which runs of other loads do not have. What is
 * judged of the load itself, with its thresholds, is counted among its figures.
 */
function byChecks(record: RunRecord, problem: string | null): Measured[] {
  const runs = record.load?.runs ?? [];
  const ofLoads = runs.map((run) => ({ name: `checks in ${run.name}`, own: checksOfRun(record.checks, run) }));
  const inLoads = new Set(ofLoads.flatMap(({ own }) => own));
  const ofSuites = { name: "checks", own: record.checks.filter((check) => !inLoads.has(check)) };
  return [ofSuites, ...ofLoads].flatMap((group) => counted(group, { rounds: record.rounds, problem }));
}

interface CheckGroup {
  readonly name: string;
  readonly own: RunRecord["checks"];
}

/** Numbers of failed checks are comparable if the same checks were run; the machine does not matter. */
function counted(
  { name, own: all }: CheckGroup,
  { rounds, problem }: Pick<RunRecord, "rounds"> & Pick<Measured, "problem">,
) {
  const own = all.filter(({ suite }) => suite !== "load");
  if (own.length === 0) return [];
  const workload = hash({ checks: own.map(({ id }) => id).sort(), rounds });
  return [{ name, workload, machine: "any", problem, figures: problem === null ? countsOf(own) : {} }];
}

function countsOf(checks: RunRecord["checks"]): NamedFigures {
  const count = (status: string) => checks.filter((check) => check.status === status).length;
  return Object.fromEntries(
    ["fail", "warn"].map((status) => [`checks{status=${status}}`, { value: count(status), samples: checks.length }]),
  );
}

const OVERHEAD = ["overhead.added_ms", "overhead.added_ttft_ms", "overhead.added_gap_ms"] as const;

function byOverhead(record: RunRecord, machine: string, problem: string | null): Measured[] {
  if (record.overhead === undefined) return [];
  const figures: NamedFigures = {};
  for (const { name: gateway, levels } of record.overhead.arms) {
    for (const { concurrency, stream, promptBytes } of levels) {
      const labels = `concurrency=${concurrency},gateway=${gateway},prompt_bytes=${promptBytes},stream=${stream}`;
      for (const metric of OVERHEAD) {
        for (const stat of ["p50", "p99"]) {
          const name = `${metric}{${labels}} ${stat}`;
          const threshold = parseThreshold(`${name} < 0`);
          const figure = typeof threshold === "string" ? undefined : measuredValue(record, threshold);
          if (figure !== undefined) figures[name] = figure;
        }
      }
    }
  }
  const workload = hash(record.overhead.arms.map(({ name }) => name));
  return [{ name: "overhead", workload, machine, problem, figures: problem === null ? figures : {} }];
}

function hash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}
