import {
  describeChanges,
  describeFigure,
  describeFinding,
  figureChange,
  figureValue,
  groupDrift,
  importantFirst,
} from "../../reports/text/index.ts";
import { formatCount, groupBy } from "../core/index.ts";
import {
  type ComparedMetric,
  type Comparison,
  checkChanges,
  DECIDED,
  phaseCheckId,
  type RunRecord,
  SAMPLES_NEEDED,
  selectionOf,
  statusOfFinding,
} from "../record/index.ts";
import { commonBehaviour } from "./common-behaviour.ts";
import { COMPARED_COUNTS } from "./counts.ts";
import { type Behaviour, driftBetween } from "./drift.ts";
import { allStoredMetrics, type StoredNoise, shareName, storedMetrics } from "./stored-metrics.ts";

/** A stored run with its recorded responses. */
export interface StoredSide {
  /** Short name in tables and sentences, unlike that of the other side. */
  readonly name: string;
  /** As given. */
  readonly folder?: string | undefined;
  readonly record: RunRecord;
  readonly behaviour: Behaviour;
}

type CheckResult = RunRecord["checks"][number];
interface Result extends Pick<CheckResult, "id" | "status" | "message"> {
  /** The check that a finding belongs to. */
  readonly findingOf?: string;
}

/**
 * Compares two stored runs. Verdicts, checks and behaviour are compared as in a live session. Of the metrics, only changes beyond
 * the day-to-day noise count, and they are weaker evidence. What only one run selected is not compared.
 */
export function compareStored(a: StoredSide, b: StoredSide, noise: StoredNoise = {}): Comparison {
  const [before, now] = resultsOfBoth(a.record, b.record);
  const changes = changesBetween(a.record, b.record);
  const checks = withoutRepetitions(changes, now);
  const stored = storedMetrics(a.record, b.record, noise);
  const { notCompared, tooFew } = stored;
  const metrics = explainedByChecks(stored.metrics, { record: b.record, newlyFailing: changes.newlyFailing });
  const common = commonBehaviour(a.behaviour, b.behaviour);
  const drift = driftBetween(common.a, common.b);
  const counts = { decided: decidedInBoth(before, now), behaviourNotCompared: common.notCompared };
  const concluded = conclude(a, b, { checks, metrics, drift, notCompared, tooFew, ...counts });
  return {
    kind: "stored",
    a: sideOf(a),
    b: sideOf(b),
    ...concluded,
    ...(metrics.some(isUndecidedLatency) && { nextStep: COMPARE_LIVE }),
    ...noise,
    seed: null,
    order: [],
    control: null,
    metrics,
    checks,
    drift,
  };
}

/** Whether both runs have a latency, and its change is undecided. */
const isUndecidedLatency = ({ verdict, unit, a, b }: ComparedMetric): boolean =>
  verdict === "inconclusive" && unit === "ms" && a !== null && b !== null;

/** What decides smaller changes than runs of different times can. */
const COMPARE_LIVE =
  "Separate runs can decide only large latency changes. For smaller ones, compare both builds in one session: `gauntlet compare --start-a COMMAND --start-b COMMAND`. If one job made both runs on one machine, use `--noise-factor 1.5` to decide smaller changes.";

/** Every figure that both runs have, with the verdicts of {@link compareStored}, and more quantiles. */
export function judgedMetrics(a: RunRecord, b: RunRecord): ComparedMetric[] {
  const { newlyFailing } = changesBetween(a, b);
  return explainedByChecks(allStoredMetrics(a, b), { record: b, newlyFailing });
}

function changesBetween(a: RunRecord, b: RunRecord): Comparison["checks"] {
  const [before, now] = resultsOfBoth(a, b);
  return checkChanges({
    before: new Map(before.map(({ id, status }) => [id, status])),
    now,
    wasSelected: selectionOf(a, b),
    isSelected: selectionOf(b, a),
  });
}

function sideOf({ name, folder, record: { target, runId, startedAt, command } }: StoredSide): Comparison["a"] {
  return {
    name,
    label: `${target.name} at ${target.baseUrl}`,
    runId,
    startedAt,
    command,
    ...(folder === undefined ? {} : { folder }),
    ...(target.build === undefined ? {} : { build: target.build }),
  };
}

/**
 * The results of both runs: their checks, and the named findings of checks that both decided. A lost check counts once, not once per
 * finding.
 */
function resultsOfBoth(a: RunRecord, b: RunRecord): [before: Result[], now: Result[]] {
  const decided = ({ checks }: RunRecord) =>
    new Set(checks.filter(({ status }) => DECIDED.includes(status)).map(({ id }) => id));
  const [inA, inB] = [decided(a), decided(b)];
  const results = ({ checks }: RunRecord) =>
    checks.flatMap((check) => [check, ...(inA.has(check.id) && inB.has(check.id) ? comparisonsOf(check) : [])]);
  return [results(a), results(b)];
}

function comparisonsOf(check: CheckResult): Result[] {
  return check.findings
    .filter(({ name, requirements }) => !requirements.includes(name))
    .map((finding) => ({
      id: `${check.id}.${finding.name}`,
      findingOf: check.id,
      status: statusOfFinding(finding),
      message: describeFinding(finding),
    }));
}

/** A check changes with its findings: they count only if the check itself does not change in the same way. */
function withoutRepetitions(changes: Comparison["checks"], results: readonly Result[]): Comparison["checks"] {
  const owners = new Map(results.map(({ id, findingOf }) => [id, findingOf]));
  const once = (some: Comparison["checks"]["fixed"]) => {
    const changed = new Set(some.map(({ id }) => id));
    return some.filter(({ id }) => !changed.has(owners.get(id) ?? ""));
  };
  return {
    ...changes,
    newlyFailing: once(changes.newlyFailing),
    worse: once(changes.worse),
    lost: once(changes.lost),
    fixed: once(changes.fixed),
    other: once(changes.other),
  };
}

interface NewlyFailing {
  readonly record: RunRecord;
  readonly newlyFailing: Comparison["checks"]["newlyFailing"];
}

/** A share that makes its load fail has regressed, even if the difference alone could be chance or is within the margin. */
function explainedByChecks(
  metrics: readonly ComparedMetric[],
  { record, newlyFailing }: NewlyFailing,
): ComparedMetric[] {
  const failing = new Map(newlyFailing.map(({ id, message }) => [id, message]));
  const broken = new Map(
    (record.load?.runs ?? []).flatMap((run) =>
      run.phases.flatMap((phase) =>
        COMPARED_COUNTS.flatMap((what) => {
          const message = failing.get(`${phaseCheckId(run, phase)}.load.${what}`);
          return message === undefined ? [] : [[shareName(run, phase, what), message] as const];
        }),
      ),
    ),
  );
  return metrics.map((metric) => {
    const why = broken.get(metric.name);
    return why === undefined || (metric.change ?? 0) <= 0 ? metric : { ...metric, verdict: "regressed", why };
  });
}

/** How many results both runs decided. If zero, nothing was compared. */
function decidedInBoth(before: readonly Result[], now: readonly Result[]): number {
  const decided = new Set(before.filter(({ status }) => DECIDED.includes(status)).map(({ id }) => id));
  return now.filter(({ id, status }) => decided.has(id) && DECIDED.includes(status)).length;
}

/** Best first. */
const WORDS = ["pass", "inconclusive", "error", "fail"] as const satisfies readonly RunRecord["verdict"]["result"][];

interface Found extends Pick<Comparison, "checks" | "metrics" | "drift"> {
  readonly decided: number;
  readonly notCompared: readonly string[];
  /** Quantiles with too few requests. */
  readonly tooFew: readonly string[];
  /** Check instances of both runs that share requests with check instances of only one run. */
  readonly behaviourNotCompared: number;
}

function conclude(first: StoredSide, second: StoredSide, found: Found): Pick<Comparison, "verdict" | "reasons"> {
  const [a, b] = [first.record, second.record];
  const { checks, metrics, decided } = found;
  const { onlyA, onlyB } = checks.notCompared;
  const ordered = importantFirst(metrics);
  const of = (verdict: Comparison["verdict"]) => ordered.filter((metric) => metric.verdict === verdict);
  const rank = ({ verdict }: RunRecord) => WORDS.indexOf(verdict.result);
  // The verdicts of runs with different selections cannot be compared.
  const worse = onlyA + onlyB + found.notCompared.length === 0 && rank(b) > rank(a);
  const cut = [a, b].filter(({ complete }) => !complete);
  const compared = decided + metrics.length - of("inconclusive").length;
  const isRegressed =
    (worse && b.verdict.result === "fail") ||
    checks.newlyFailing.length + checks.vanished.length + checks.worse.length + of("regressed").length > 0;
  const isOpen = worse || cut.length > 0 || checks.lost.length > 0 || of("inconclusive").length > 0 || compared === 0;
  return {
    verdict: isRegressed
      ? "regressed"
      : isOpen
        ? "inconclusive"
        : of("improved").length > 0 || checks.fixed.length > 0
          ? "improved"
          : "not worse",
    reasons: [
      ...(worse
        ? [
            {
              status: b.verdict.result === "fail" ? ("fail" as const) : ("inconclusive" as const),
              text: verdictsText(first, second),
            },
          ]
        : []),
      ...describeChanges(checks),
      ...of("regressed").map((metric) => ({
        status: "fail" as const,
        text: figureText(metric),
        detail: "metrics" as const,
      })),
      ...of("improved").map((metric) => ({
        status: "pass" as const,
        text: figureText(metric),
        detail: "metrics" as const,
      })),
      ...cut.map(({ runId }) => ({ status: "inconclusive" as const, text: `run ${runId} was cut short` })),
      ...undecidedLines(of("inconclusive")).map((text) => ({ status: "inconclusive" as const, text })),
      ...(compared === 0
        ? [{ status: "inconclusive" as const, text: "the two runs have no decided check or figure in common" }]
        : []),
      ...noteLines(found).map((text) => ({ status: "observed" as const, text })),
    ],
  };
}

const PAST: Readonly<Record<RunRecord["verdict"]["result"], string>> = {
  pass: "passed",
  fail: "failed",
  inconclusive: "was inconclusive",
  error: "ended with an error",
};

/** `c2 failed; c1 had passed`. */
function verdictsText(a: StoredSide, b: StoredSide): string {
  const [before, now] = [a, b].map(({ record }) => PAST[record.verdict.result]);
  return `${b.name} ${now}; ${a.name} had ${before?.replace(/^was/, "been")}`;
}

/** What decides nothing: different responses, and what was not compared. */
function noteLines({ checks, drift, behaviourNotCompared, tooFew, notCompared }: Found): string[] {
  const { onlyA, onlyB } = checks.notCompared;
  const only = (count: number, which: string) =>
    count === 0 ? [] : [`not compared: ${formatCount(count, "check instance")} that only the ${which} run selected`];
  return [
    ...(drift.length === 0 ? [] : [`the responses differ in ${formatCount(groupDrift(drift).length, "place")}`]),
    ...only(onlyA, "first"),
    ...only(onlyB, "second"),
    ...(behaviourNotCompared === 0
      ? []
      : [
          `not compared: the behaviour of ${formatCount(behaviourNotCompared, "check instance")} that share requests with check instances of only one run`,
        ]),
    ...(tooFew.length === 0
      ? []
      : [`not compared, because p99 needs at least ${SAMPLES_NEEDED.p99} requests: ${tooFew.join("; ")}`]),
    ...notCompared.map((text) => `not compared: ${text}`),
  ];
}

const MAX_NAMED = 5;

/** One line per reason, with the metrics that are undecided because of it. */
function undecidedLines(metrics: readonly ComparedMetric[]): string[] {
  return [...groupBy(metrics, ({ why }) => why)].map(([why, some]) => {
    const names = some.slice(0, MAX_NAMED).map((metric) => {
      const { unit, change } = metric;
      const name = describeFigure(metric.name);
      return change !== null && unit !== "share" ? `${name} (${figureChange(metric, change)})` : name;
    });
    const more = some.length > MAX_NAMED ? ` and ${some.length - MAX_NAMED} more metrics` : "";
    return `undecided (${why}): ${names.join("; ")}${more}`;
  });
}

function figureText(metric: ComparedMetric): string {
  const { name, unit, a, b, verdict } = metric;
  const change = `${verdict === "regressed" ? "went" : "improved"} from ${figureValue(metric, a)} to ${figureValue(metric, b)}`;
  return `${describeFigure(name)} ${change}${unit === "share" ? "" : ` ${unit}`} (weaker evidence than a live comparison)`;
}
