import { judgedMetrics, placeOf, shareName, TOKENS_PER_REPLY } from "../../src/compare/index.ts";
import { formatCount, formatNumber, formatRounded, withSign } from "../../src/core/index.ts";
import {
  type Cause,
  type ComparedMetric,
  checkChanges,
  compareSeparateRuns,
  isSameLoad,
  type LoadClass,
  type LoadPhase,
  type LoadRun,
  type RunRecord,
  STATUSES,
  selectionOf,
} from "../../src/record/index.ts";
import { requirementSentence, weightOf } from "../causes.ts";
import { rerunOf } from "../evidence/reproduce.ts";
import type { ReportSource } from "../evidence/source.ts";
import { headlinePhase, kindOf } from "../figures/latency-table.ts";
import { startedLoads } from "../figures/started-loads.ts";
import { profilesLine } from "../markdown.ts";
import { code, command, inline } from "../markdown-text.ts";
import { SIGNS } from "../status-style.ts";
import { measuredPart, thresholdsPart } from "./load-tables.ts";

/** Maximum number of causes and of check ids that a comment lists. */
const MAX_CAUSES = 5;
const MAX_IDS = 10;
/** Maximum number of check ids of a cause. */
const MAX_CHECKS_PER_CAUSE = 3;

const NO_BASE =
  "There was no base run to compare with (`--base`). The jobs in Gauntlet's `docs/ci.md` keep the last run of the main branch as the base.";

/** Identifies the comment of a target, so that a job can replace it instead of adding another. */
export function commentMarker({ target }: Pick<RunRecord, "target">): string {
  return `<!-- gauntlet: ${encodeURIComponent(target.name)} -->`;
}

/** A run for a comment on a pull request: verdict, what changed since a run of the base branch, and where the report is. */
export function renderComment({ record, base, reportUrl }: ReportSource): string {
  const { verdict, counts } = record;
  const counted = STATUSES.filter((status) => (counts[status] ?? 0) > 0).map(
    (status) => `${formatNumber(counts[status] ?? 0)} ${status}`,
  );
  const sign = { pass: SIGNS.pass, fail: SIGNS.fail, inconclusive: SIGNS.inconclusive, error: SIGNS["harness-error"] };
  const facts = `${counted.join(", ")}${counted.length === 0 ? "" : "; "}${formatCount(record.traffic.requests, "request")} in ${formatNumber(record.durationMs / 1_000)} s.`;
  const link = reportUrl === undefined ? "" : ` [Report](${encodeURI(reportUrl).replaceAll(")", "%29")})`;
  const parts = [
    commentMarker(record),
    ...(record.profiles === undefined ? [] : [profilesLine(record.profiles)]),
    `### ${sign[verdict.result]} ${inline(verdict.headline)}`,
    `${facts}${link}`,
    ...causesPart(record),
    ...(record.load?.runs ?? []).flatMap((run) => {
      const [, ...table] = thresholdsPart(record, run);
      return table.length === 0 ? [] : [table.join("\n")];
    }),
    ...(base === undefined ? withoutBase(record) : comparedParts(record, base)),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** What changed since the base. Loads that the base does not contain have only their own figures. */
function comparedParts(record: RunRecord, base: RunRecord): string[] {
  const uncompared = startedLoads(record).filter((run) => sameLoadIn(base, run) === undefined);
  return [
    ...differentWorkloadsPart(record, base),
    ...changesPart(record, base),
    ...figuresPart(record, base),
    ...measuredPart(record, uncompared),
    `Compared with run ${code(base.runId)} of ${base.startedAt.slice(0, 10)}.`,
  ];
}

/** The first pull request has no base run, and neither has one after the cache has expired. */
function withoutBase(record: RunRecord): string[] {
  const figures = measuredPart(record, startedLoads(record));
  return figures.length === 0 ? [] : [...figures, inline(NO_BASE)];
}

function causesPart(record: RunRecord): string[] {
  const { causes, verdict } = record;
  if (causes.length > 0) {
    const lines = causes.slice(0, MAX_CAUSES).flatMap((cause) => causeLines(record, cause));
    const more = causes.length > MAX_CAUSES ? [`- and ${formatNumber(causes.length - MAX_CAUSES)} more`] : [];
    return [[...lines, ...more].join("\n")];
  }
  if (verdict.result === "pass" || verdict.reasons.length === 0) return [];
  return [
    verdict.reasons
      .slice(0, MAX_CAUSES)
      .map(({ text }) => `- ${inline(text)}`)
      .join("\n"),
  ];
}

/** A cause with its requirement, the checks that it explains, and a command that repeats the first of them. */
function causeLines(record: RunRecord, cause: Cause): string[] {
  const { weight, title, checks, requirements } = cause;
  const [first] = checks;
  return [
    `- ${SIGNS[weight]} ${inline(title)}`,
    // Without a requirement, it is a threshold of a load, which the title names.
    ...(requirements.length === 0 ? [] : [`  - ${inline(requirementSentence(record, cause))}`]),
    `  - ${weightOf(record, cause)}: ${listed(checks, MAX_CHECKS_PER_CAUSE)}`,
    ...(first === undefined ? [] : [`  - Reproduce: ${command(rerunOf(record, first))}`]),
  ];
}

/** The first few ids, and the number of the others. */
function listed(ids: readonly string[], most: number): string {
  return `${ids.slice(0, most).map(code).join(", ")}${ids.length > most ? ` and ${formatNumber(ids.length - most)} more` : ""}`;
}

/** Names the loads that only one run contains. They are not compared: a difference in the workload says nothing about the gateway. */
function differentWorkloadsPart(record: RunRecord, base: RunRecord): string[] {
  const [ours, theirs] = [record, base].map((run) => run.load?.runs ?? []) as [LoadRun[], LoadRun[]];
  const onlyOurs = ours.filter((run) => sameLoadIn(base, run) === undefined);
  const onlyTheirs = theirs.filter((run) => sameLoadIn(record, run) === undefined);
  if (onlyOurs.length + onlyTheirs.length === 0) return [];
  const [our, their] = [onlyOurs, onlyTheirs].map((runs) => runs.map(({ name }) => code(name)).join(", ") || "no load");
  const isRedefined = onlyOurs.some(({ name }) => onlyTheirs.some((other) => other.name === name));
  const how = isRedefined ? ", defined differently" : "";
  return [
    `**The two runs used different workloads**: ${our} in this run, ${their} in the base${how}. Only what both runs contain is compared.`,
  ];
}

const sameLoadIn = ({ load }: RunRecord, run: LoadRun): LoadRun | undefined =>
  load?.runs.find((other) => other.name === run.name && isSameLoad(other, run));

function changesPart(record: RunRecord, base: RunRecord): string[] {
  const changes = checkChanges({
    before: new Map(base.checks.map(({ id, status }) => [id, status])),
    now: record.checks,
    wasSelected: selectionOf(base, record),
    isSelected: selectionOf(record, base),
  });
  const rows = [
    ["Newly failing", changes.newlyFailing],
    ["Missing", changes.vanished],
    ["Newly warning", changes.worse],
    ["Now undecided", changes.lost],
    ["Newly passing", changes.fixed],
  ] as const;
  const lines = rows.flatMap(([title, some]) => {
    if (some.length === 0) return [];
    const ids = some.map(({ id }) => id);
    return [`**${title} (${formatNumber(some.length)})**: ${listed(ids, MAX_IDS)}`];
  });
  return lines.length === 0 ? ["No check changed."] : [lines.join("\n\n")];
}

/** A figure of a load run. */
interface Figure {
  readonly name: string;
  /** Its name in a comparison of the two runs, which decides about it; the rate has none. */
  readonly metric?: string;
  readonly unit: "/s" | " ms" | " %" | "";
  readonly value: number;
  /** 95 %; `null`: too few requests for one; `undefined`: the record never has one for this figure. */
  readonly interval: readonly [number, number] | null | undefined;
  /** Shown only next to the figure of the base. */
  readonly isOnlyCompared?: true;
}

/** Why a large change may be undecided, and what decides it. */
const UNDECIDED =
  "Separate runs cannot decide the changes marked undecided: they may be noise, or the runs have too few requests or are not comparable. `gauntlet compare --start-a COMMAND --start-b COMMAND` measures both builds in one session and can decide smaller changes.";

/** The figures of every load run, next to those of the base. */
function figuresPart(record: RunRecord, base: RunRecord): string[] {
  const judged = new Map(judgedMetrics(base, record).map((metric) => [metric.name, metric.verdict]));
  let isLatencyUndecided = false;
  const tables = (record.load?.runs ?? []).flatMap((run) => {
    const before = sameLoadIn(base, run);
    if (before === undefined) return [];
    const phase = headlinePhase(run);
    // Figures of another phase would be those of another load.
    const same = before.phases.find(({ name }) => name === phase?.name);
    const known = new Map(figuresOf(run, same).map((figure) => [figure.name, figure]));
    const rows = figuresOf(run, phase).flatMap((now) => {
      const was = known.get(now.name);
      if (was === undefined && now.isOnlyCompared) return [];
      if (was === undefined) return [`| ${now.name} | – | ${textOf(now)} | |`];
      const verdict = now.metric === undefined ? verdictOfRate(was, now) : judged.get(now.metric);
      isLatencyUndecided ||= now.unit === " ms" && verdict === "inconclusive";
      const cells = [textOf(was), textOf(now), changeOf(was, now, verdict)];
      return [`| ${now.name} | ${cells.join(" | ")} |`];
    });
    if (rows.length === 0) return [];
    return [[`| ${inline(run.name)} | base | this run | change |`, "|---|--:|--:|--:|", ...rows].join("\n")];
  });
  return isLatencyUndecided ? [...tables, UNDECIDED] : tables;
}

function figuresOf(run: LoadRun, phase: LoadPhase | undefined): Figure[] {
  if (phase === undefined) return [];
  const { admitted, intervals } = phase.rates;
  const place = placeOf(run, phase);
  const classes = phase.classes.filter(({ outcome }) => outcome === "admitted");
  return [
    { name: "admitted requests", unit: "/s", value: admitted, interval: intervals?.admitted ?? null },
    ...classes.flatMap((entry) => [
      ...latencies(entry, place, ["TTFT", "ttftMs", "ttft_ms"]),
      ...latencies(entry, place, ["E2E", "responseMs", "response_ms"]),
      ...tokensPerReply(entry, place),
    ]),
    ...shares(run, phase),
  ];
}

function tokensPerReply(entry: LoadClass, place: string): Figure[] {
  const { count, outputTokens } = entry;
  if (count === 0 || outputTokens === 0) return [];
  const kind = kindOf(entry);
  return [
    {
      ...{ name: `output tokens per reply, ${kind}`, metric: `${place} ${kind} ${TOKENS_PER_REPLY}`, unit: "" },
      ...{ value: outputTokens / count, interval: undefined, isOnlyCompared: true },
    },
  ];
}

function shares(run: LoadRun, phase: LoadPhase): Figure[] {
  const all = phase.shares;
  if (all === undefined) return [];
  return (["failed", "invalid"] as const).map((what) => {
    const ends = all.intervals[what];
    return {
      ...{ name: `${what} requests`, metric: shareName(run, phase, what), unit: " %", value: all[what] * 100 },
      ...{ interval: ends && [ends[0] * 100, ends[1] * 100], isOnlyCompared: true },
    };
  });
}

function latencies(
  entry: LoadClass,
  place: string,
  [label, field, metric]: readonly [string, "ttftMs" | "responseMs", string],
): Figure[] {
  const quantiles = entry[field];
  if (quantiles === null) return [];
  const kind = kindOf(entry);
  return (["p50", "p95"] as const).map((stat) => ({
    ...{ name: `${label} ${stat}, ${kind}`, metric: `${place} ${kind} ${metric} ${stat}`, unit: " ms" },
    ...{ value: quantiles[stat], interval: quantiles.intervals?.[stat] ?? null },
  }));
}

function textOf({ value, interval, unit }: Figure): string {
  const write = (one: number) => formatRounded(one, unit === " %" ? 2 : one < 100 ? 1 : 0);
  const ends = interval ? ` (${write(interval[0])}–${write(interval[1])})` : "";
  return `${write(value)}${ends}${unit}`;
}

const pointsText = (amount: string): string => `${amount} ${amount === "1" ? "point" : "points"}`;

function verdictOfRate(was: Figure, now: Figure): ComparedMetric["verdict"] {
  const rate = { name: "admitted_per_s", unit: "per s", worse: "lower" } as const;
  return compareSeparateRuns({ ...rate, a: was.value, b: now.value }).verdict;
}

/** The change, of a share in percentage points and of anything else in percent, with the verdict of a comparison of the two runs. */
function changeOf(was: Figure, now: Figure, verdict: ComparedMetric["verdict"] = "inconclusive"): string {
  const change = now.value - was.value;
  const isShare = was.unit === " %";
  if (!isShare && was.value === 0) return "";
  const amount = isShare ? formatRounded(Math.abs(change), 2) : formatRounded(Math.abs(change / was.value) * 100, 1);
  const isZero = Number(amount) === 0;
  const text = withSign(isZero ? 0 : change, isShare ? pointsText(amount) : `${amount} %`);
  if (verdict === "inconclusive") return `${text}, undecided`;
  if (verdict === "not worse") return `${text}, not worse`;
  // A change that is not visible has no direction.
  if (isZero) return text;
  // Not better or worse: a gateway that returns shorter replies is also faster.
  const [more, less] = now.unit === " ms" ? ["slower", "faster"] : ["higher", "lower"];
  return `**${text}**, ${change > 0 ? more : less}`;
}
