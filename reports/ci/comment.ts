import { formatNumber, formatRounded, withSign } from "../../src/core/index.ts";
import {
  type Cause,
  checkChanges,
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
import { code, command, inline, profilesLine, thresholdsPart } from "../markdown.ts";
import { SIGNS } from "../status-style.ts";

/** Maximum number of causes and of check ids that a comment lists. */
const MAX_CAUSES = 5;
const MAX_IDS = 10;
/** Maximum number of check ids of a cause. */
const MAX_CHECKS_PER_CAUSE = 3;

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
  const facts = `${counted.join(", ")}${counted.length === 0 ? "" : "; "}${formatNumber(record.traffic.requests)} requests in ${formatNumber(record.durationMs / 1_000)} s.`;
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
    ...(base === undefined
      ? []
      : [...otherLoadsPart(record, base), ...changesPart(record, base), ...figuresPart(record, base)]),
    ...(base === undefined ? [] : [`Compared with run ${code(base.runId)} of ${base.startedAt.slice(0, 10)}.`]),
  ];
  return `${parts.join("\n\n")}\n`;
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

/** What the two runs do not have in common is not compared: it is no change of the gateway. */
function otherLoadsPart(record: RunRecord, base: RunRecord): string[] {
  const [ours, theirs] = [record, base].map((run) => run.load?.runs ?? []) as [LoadRun[], LoadRun[]];
  const onlyOurs = ours.filter((run) => sameLoadIn(base, run) === undefined);
  const onlyTheirs = theirs.filter((run) => sameLoadIn(record, run) === undefined);
  if (onlyOurs.length + onlyTheirs.length === 0) return [];
  const [our, their] = [onlyOurs, onlyTheirs].map((runs) => runs.map(({ name }) => code(name)).join(", ") || "no load");
  const isRedefined = onlyOurs.some(({ name }) => onlyTheirs.some((other) => other.name === name));
  const how = isRedefined ? ", defined differently" : "";
  return [
    `**The two runs are of different workloads**: ${our} in this run, ${their} in the base${how}. Only what both runs contain is compared.`,
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
  readonly unit: "/s" | " ms" | " %" | "";
  readonly value: number;
  /** 95 %; `null`: too few requests for one; `undefined`: the record never has one for this figure. */
  readonly interval: readonly [number, number] | null | undefined;
  /** Shown only next to the figure of the base. */
  readonly isOnlyCompared?: true;
}

/** The figures of every load run, next to those of the base. */
function figuresPart(record: RunRecord, base: RunRecord): string[] {
  return (record.load?.runs ?? []).flatMap((run) => {
    const before = sameLoadIn(base, run);
    if (before === undefined) return [];
    const phase = headlinePhase(run);
    // Figures of another phase would be those of another load.
    const same = before.phases.find(({ name }) => name === phase?.name);
    const known = new Map(figuresOf(same).map((figure) => [figure.name, figure]));
    const rows = figuresOf(phase).flatMap((now) => {
      const was = known.get(now.name);
      if (was === undefined && now.isOnlyCompared) return [];
      const cells = was === undefined ? ["–", textOf(now), ""] : [textOf(was), textOf(now), changeOf(was, now)];
      return [`| ${now.name} | ${cells.join(" | ")} |`];
    });
    if (rows.length === 0) return [];
    return [[`| ${inline(run.name)} | base | this run | change |`, "|---|--:|--:|--:|", ...rows].join("\n")];
  });
}

function figuresOf(phase: LoadPhase | undefined): Figure[] {
  if (phase === undefined) return [];
  const { admitted, intervals } = phase.rates;
  const classes = phase.classes.filter(({ outcome }) => outcome === "admitted");
  return [
    { name: "admitted requests", unit: "/s", value: admitted, interval: intervals?.admitted ?? null },
    ...classes.flatMap((entry) => [
      ...latencies(entry, "TTFT", "ttftMs"),
      ...latencies(entry, "E2E", "responseMs"),
      ...tokensPerReply(entry),
    ]),
    ...shares(phase),
  ];
}

function tokensPerReply(entry: LoadClass): Figure[] {
  const { count, outputTokens } = entry;
  if (count === 0 || outputTokens === 0) return [];
  const name = `output tokens per reply, ${kindOf(entry)}`;
  return [{ name, unit: "", value: outputTokens / count, interval: undefined, isOnlyCompared: true }];
}

function shares({ shares: all }: LoadPhase): Figure[] {
  if (all === undefined) return [];
  return (["failed", "invalid"] as const).map((what) => {
    const ends = all.intervals[what];
    return {
      name: `${what} requests`,
      unit: " %",
      value: all[what] * 100,
      interval: ends && [ends[0] * 100, ends[1] * 100],
      isOnlyCompared: true,
    };
  });
}

function latencies(entry: LoadClass, name: string, field: "ttftMs" | "responseMs"): Figure[] {
  const quantiles = entry[field];
  if (quantiles === null) return [];
  return (["p50", "p95"] as const).map((stat) => ({
    name: `${name} ${stat}, ${kindOf(entry)}`,
    unit: " ms",
    value: quantiles[stat],
    interval: quantiles.intervals?.[stat] ?? null,
  }));
}

function textOf({ value, interval, unit }: Figure): string {
  const write = (one: number) => formatRounded(one, unit === " %" ? 2 : one < 100 ? 1 : 0);
  const ends = interval ? ` (${write(interval[0])}–${write(interval[1])})` : "";
  return `${write(value)}${ends}${unit}`;
}

const pointsText = (amount: string): string => `${amount} ${amount === "1" ? "point" : "points"}`;

/** The change, of a share in percentage points and of anything else in percent; marked if the intervals do not overlap. */
function changeOf(was: Figure, now: Figure): string {
  const change = now.value - was.value;
  if (was.unit !== " %" && was.value === 0) return "";
  const amount =
    was.unit === " %"
      ? pointsText(formatRounded(Math.abs(change), 2))
      : `${formatRounded(Math.abs(change / was.value) * 100, 1)} %`;
  const text = withSign(change, amount);
  if (was.interval === undefined || now.interval === undefined) return text;
  if (!was.interval || !now.interval) return `${text}, too few requests to tell`;
  const isHigher = now.interval[0] > was.interval[1];
  const isLower = now.interval[1] < was.interval[0];
  if (!isHigher && !isLower) return `${text}, intervals overlap`;
  // Not better or worse: a gateway that returns shorter replies is also faster.
  const [more, less] = now.unit === " ms" ? ["slower", "faster"] : ["higher", "lower"];
  return `**${text}**, ${isHigher ? more : less}`;
}
