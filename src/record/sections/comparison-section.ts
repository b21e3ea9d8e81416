import * as z from "zod";
import { STATUSES } from "../status.ts";

const status = z.enum(STATUSES);

/** One of the two sides. */
const sideSchema = z.strictObject({
  /** Short name in tables and sentences; the names of the two sides differ. */
  name: z.string(),
  label: z.string(),
  runId: z.string().optional(),
  build: z.string().optional(),
  startedAt: z.string().optional(),
  /** For stored runs: the folder, as given. */
  folder: z.string().optional(),
  /** For stored runs: the command that created the run, with its recorded arguments. */
  command: z.string().optional(),
});

/** Why the comparison has its verdict, or what else differs. */
const reasonSchema = z.strictObject({
  /** `fail`: worse; `inconclusive`: undecided; `pass`: better; `observed`: decides nothing. */
  status: z.enum(["fail", "inconclusive", "pass", "observed"]),
  text: z.string(),
  /** Which other part of the comparison shows it, too. */
  detail: z.enum(["metrics", "checks"]).optional(),
});

export const METRIC_VERDICTS = ["regressed", "not worse", "improved", "inconclusive"] as const;

/** One figure of both sides. Changes are relative: 0.1 is 10 % more. */
const metricSchema = z.strictObject({
  name: z.string(),
  unit: z.enum(["ms", "per s", "share", "tokens"]),
  /** Which direction is worse. */
  worse: z.enum(["higher", "lower"]),
  /** Median over the blocks of each side, in the unit. */
  a: z.number().nullable(),
  b: z.number().nullable(),
  pairs: z.int(),
  /** Relative change from A to B with its 90 % interval: each end is wrong in 5 of 100 cases; the difference for shares. */
  change: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
  /** Practical margin in the same terms, including the absolute floor. */
  margin: z.number(),
  /** Sign-flip permutation test of the pairs, two-sided; then Holm-corrected over all metrics. */
  p: z.number().nullable(),
  pHolm: z.number().nullable(),
  /** Smallest change that this number of pairs could have detected with 80 % power. */
  detectable: z.number().nullable(),
  /** About how many pairs a verdict needs, if there is none yet. */
  neededPairs: z.int().nullable(),
  verdict: z.enum(METRIC_VERDICTS),
  /** Empty if the verdict needs no reason. */
  why: z.string(),
  /** Which blocks had too few samples for this figure. */
  tooFewSamplesIn: z.enum(["some blocks", "every block"]).optional(),
});

/** A response that differs between the sides. */
const driftSchema = z.strictObject({
  kind: z.enum(["status", "reason", "header", "field", "shape", "observed", "text"]),
  /** Check, requirement, or kind of request. */
  where: z.string(),
  /** Header, field or requirement that differs. */
  what: z.string(),
  before: z.string(),
  now: z.string(),
});

const checkChangeSchema = z.strictObject({
  id: z.string(),
  before: status.nullable(),
  now: status.nullable(),
  message: z.string(),
});

/** A run compared with another: two builds, two stored runs, or an accepted baseline. */
export const comparisonSchema = z.strictObject({
  /**
   * `live`: interleaved in one session. `stored` and `baseline`: weaker, because the machine may have changed between the days.
   */
  kind: z.enum(["live", "stored", "baseline"]),
  a: sideSchema,
  b: sideSchema,
  verdict: z.enum(METRIC_VERDICTS),
  reasons: z.array(reasonSchema),
  /** What to do next: what would decide an inconclusive session. */
  nextStep: z.string().optional(),
  /** The `--noise-factor` of a comparison of two stored runs, if given: a latency counts as changed only beyond it. */
  noiseFactor: z.number().optional(),
  seed: z.int().nullable(),
  /** Blocks of the session in order, to record how it was interleaved. */
  order: z.array(z.enum(["A", "B", "A'"])),
  /** The same build against itself in the same session: how far it differs from itself. */
  control: z.strictObject({ fit: z.boolean(), message: z.string(), metrics: z.array(metricSchema) }).nullable(),
  metrics: z.array(metricSchema),
  checks: z.strictObject({
    newlyFailing: z.array(checkChangeSchema),
    /** From `pass` to `warn`. */
    worse: z.array(checkChangeSchema),
    /** Decided before, and now blocked, inconclusive or not applicable. */
    lost: z.array(checkChangeSchema),
    fixed: z.array(checkChangeSchema),
    vanished: z.array(checkChangeSchema),
    added: z.array(checkChangeSchema),
    other: z.array(checkChangeSchema),
    /** Number of checks that only one side selected. */
    notCompared: z.strictObject({ onlyA: z.int(), onlyB: z.int() }),
  }),
  drift: z.array(driftSchema),
});

export type Comparison = z.infer<typeof comparisonSchema>;
export type ComparedMetric = z.infer<typeof metricSchema>;

export type ComparisonReason = z.infer<typeof reasonSchema>;

export type CheckChange = z.infer<typeof checkChangeSchema>;
