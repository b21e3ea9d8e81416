import { utc } from "../../../src/core/index.ts";
import type { CheckChange, ComparedMetric, Comparison, RunRecord } from "../../../src/record/index.ts";
import { oneLine } from "../../clean-text.ts";
import {
  areFiguresUsable,
  changesByCause,
  describeComparison,
  describeFigure,
  figureChange,
  figureInterval,
  figureMargin,
  figureVerdict,
  groupDrift,
  importantFirst,
  isMeasured,
  mainMetrics,
} from "../../text/index.ts";
import { ForestPlot } from "../charts/forest-plot.tsx";
import { decimal, percent } from "../format.ts";
import { DataTable, Facts, Foreign, Heading, numbers, Section, Sentence, SentenceList, StatusMark } from "../parts.tsx";

/** What changed since the run that this one is compared with; nothing if there is none. */
export function ChangesSection({ record }: { readonly record: RunRecord }) {
  const { comparison } = record;
  if (comparison === undefined) return null;
  return (
    <Section id="changes" title="What changed" finding={oneLine(describeComparison(comparison), 600)}>
      <Changes comparison={comparison} causes={record.causes} isWhole={record.command === "compare"} />
    </Section>
  );
}

const KINDS: Readonly<Record<Comparison["kind"], string>> = {
  live: "Both ran in one session, in short interleaved blocks in shuffled, balanced order.",
  stored:
    "Two stored runs: weaker evidence than one interleaved session, because the machine may have changed in between. A latency counts as changed only if it differs by more than separate runs of one build may differ (--noise-factor). Shares are judged by their 95 % intervals. “Not worse” means not worse as far as two runs can show.",
  baseline:
    "Compared with an accepted baseline: one run against one run, so the figures have no intervals. Gates on the baseline decide.",
};

interface ChangesProps {
  readonly comparison: Comparison;
  /** Causes of the newer run. */
  readonly causes: RunRecord["causes"];
  /** Whether the run is nothing but the comparison: the sides and the reasons are then next to the verdict. */
  readonly isWhole: boolean;
}

function Changes({ comparison, causes, isWhole }: ChangesProps) {
  const { checks, drift, control, reasons } = comparison;
  return (
    <>
      <p>{KINDS[comparison.kind]}</p>
      {isWhole ? null : (
        <>
          {comparison.kind === "baseline" ? null : <Sides comparison={comparison} />}
          <SentenceList texts={reasons.map(({ text }) => oneLine(text, 300))} />
        </>
      )}
      {control === null || reasons.some(({ text }) => text === control.message) ? null : (
        <p>
          <StatusMark
            status={control.fit ? "pass" : "inconclusive"}
            label={`${oneLine(comparison.a.name, 40)} against itself`}
          />{" "}
          {oneLine(control.message, 300)}
        </p>
      )}
      <Metrics comparison={comparison} />
      <CheckList id="newly-failing" title="Newly failing" changes={checks.newlyFailing} causes={causes} />
      <CheckList id="vanished" title="Missing" changes={checks.vanished} />
      <CheckList id="newly-warning" title="Newly warning" changes={checks.worse} />
      <CheckList id="no-longer-decided" title="Now undecided" changes={checks.lost} />
      <CheckList id="other-changes" title="Other changes" changes={checks.other} />
      <CheckList id="fixed" title="Fixed" changes={checks.fixed} />
      <CheckList id="added" title="New" changes={checks.added} />
      {drift.length === 0 ? null : <DriftTable drift={drift} />}
    </>
  );
}

/** What the names of the two sides stand for. */
export function Sides({ comparison: { a, b } }: { readonly comparison: Comparison }) {
  return (
    <Facts
      pairs={[a, b].map(({ name, label, runId, startedAt }) => [
        oneLine(name, 40),
        <Foreign
          key={name}
          text={oneLine(
            [
              label,
              ...(runId === undefined ? [] : [`run ${runId}`]),
              ...(startedAt === undefined ? [] : [utc(startedAt)]),
            ].join(", "),
            300,
          )}
        />,
      ])}
    />
  );
}

/** The figures that decided, of both sides. */
export function MainFigures({ comparison }: { readonly comparison: Comparison }) {
  const metrics = mainMetrics(comparison);
  if (metrics.length === 0) return null;
  return (
    <DataTable
      caption="Main figures of both sides"
      quietCaption
      head={["Figure", ...numbers(oneLine(comparison.a.name, 40), oneLine(comparison.b.name, 40), "Change"), "Verdict"]}
      rows={metrics.map((metric) => [
        oneLine(describeFigure(metric.name), 100),
        amount(metric, metric.a),
        amount(metric, metric.b),
        figureChange(metric, metric.change),
        <StatusMark key="verdict" status={STATUS[metric.verdict]} label={figureVerdict(metric, comparison)} />,
      ])}
    />
  );
}

function Metrics({ comparison }: { readonly comparison: Comparison }) {
  const { control, a, b } = comparison;
  const metrics = importantFirst(comparison.metrics.filter(isMeasured));
  if (metrics.length === 0) return null;
  const isUsable = areFiguresUsable(comparison);
  const columns = COLUMNS.filter(({ cell }) => metrics.some((metric) => cell(metric) !== undefined));
  const hasGaps = metrics.some(
    (metric) =>
      [metric.a, metric.b, metric.change].includes(null) || columns.some(({ cell }) => cell(metric) === undefined),
  );
  return (
    <>
      <Heading id="deltas" title="Figures" />
      {metrics.some(({ low }) => low !== null) ? (
        <ForestPlot
          metrics={metrics}
          control={control?.metrics ?? []}
          isUsable={isUsable}
          names={[oneLine(a.name, 40), oneLine(b.name, 40)]}
        />
      ) : null}
      <DataTable
        caption="Figures of both sides, with intervals and margins"
        quietCaption
        head={[
          "Figure",
          "Verdict",
          ...numbers(oneLine(a.name, 40), oneLine(b.name, 40), "Change", ...columns.map(({ head }) => head)),
        ]}
        rows={metrics.map((metric) => [
          <span key="name">
            {oneLine(describeFigure(metric.name), 100)}
            {metric.why === "" ? null : <span class="because">{oneLine(metric.why, 160)}</span>}
          </span>,
          <StatusMark
            key="verdict"
            status={isUsable ? STATUS[metric.verdict] : "inconclusive"}
            label={figureVerdict(metric, comparison)}
          />,
          ...[
            amount(metric, metric.a),
            amount(metric, metric.b),
            figureChange(metric, metric.change),
            ...columns.map(({ cell }) => cell(metric) ?? "–"),
          ].map(unbroken),
        ])}
      />
      {hasGaps ? <p class="note">–: not measured, or too few samples to compute it.</p> : null}
    </>
  );
}

/** Lines are not broken between a number and its unit. */
const unbroken = (text: string): string => text.replace(/(?<=\d) (?!to )|(?<=±) /g, "\u00a0");

interface FigureColumn {
  readonly head: string;
  /** `undefined`: the figure has no such value. */
  readonly cell: (metric: ComparedMetric) => string | undefined;
}

/** Columns that only some comparisons have: one run of each side has no intervals, margins or tests. */
const COLUMNS: readonly FigureColumn[] = [
  {
    head: "90 % interval",
    cell: (metric) => figureInterval(metric)?.join(" to "),
  },
  {
    head: "Margin",
    cell: (metric) => (metric.margin === 0 ? undefined : figureMargin(metric)),
  },
  { head: "p (Holm)", cell: ({ pHolm }) => (pHolm === null ? undefined : decimal(pHolm, 3)) },
  {
    head: "Detectable",
    cell: (metric) =>
      metric.detectable === null ? undefined : figureChange(metric, metric.detectable).replace("+", ""),
  },
];

const STATUS = { regressed: "fail", improved: "pass", "not worse": "pass", inconclusive: "inconclusive" } as const;

function amount({ unit }: ComparedMetric, value: number | null): string {
  if (value === null) return "–";
  if (unit === "share") return percent(value, 2);
  return `${decimal(value, value < 10 ? 2 : 1)} ${unit === "per s" ? "/s" : unit}`;
}

/** Maximum number of changes of one kind that are listed. */
const MAX_ROWS = 100;

interface CheckListProps {
  readonly id: string;
  readonly title: string;
  readonly changes: readonly CheckChange[];
  /** Causes of the run. Those that explain several of the changes are listed above the table. */
  readonly causes?: RunRecord["causes"];
}

function CheckList({ id, title, changes, causes = [] }: CheckListProps) {
  if (changes.length === 0) return null;
  const shared = changesByCause(changes, causes).filter(
    (group) => group.title !== undefined && group.changes.length > 1,
  );
  return (
    <>
      <Heading id={id} title={title} more={` (${decimal(changes.length)})`} />
      <SentenceList
        texts={shared.map(
          (group) => `${oneLine(group.title ?? "", 240)} (${decimal(group.changes.length)} check instances)`,
        )}
      />
      <DataTable
        caption={title}
        quietCaption
        head={["Check", "Before", "Now", "Result"]}
        rows={changes
          .slice(0, MAX_ROWS)
          .map((change) => [
            <code key="id">{oneLine(change.id, 200)}</code>,
            change.before === null ? "absent" : <StatusMark key="before" status={change.before} />,
            change.now === null ? "absent" : <StatusMark key="now" status={change.now} />,
            <Sentence key="message" text={oneLine(change.message)} />,
          ])}
      />
      {changes.length > MAX_ROWS ? <p class="note">and {decimal(changes.length - MAX_ROWS)} more</p> : null}
    </>
  );
}

/** Maximum number of places that are shown for a difference; the others are collapsed. */
const MAX_PLACES = 3;

/** Each difference once, with all kinds of responses in which it was seen: as many rows as the verdict counts. */
function DriftTable({ drift }: { readonly drift: Comparison["drift"] }) {
  const groups = groupDrift(drift);
  return (
    <>
      <Heading id="drift" title="Behaviour that differs" more={` (${decimal(groups.length)})`} />
      <DataTable
        caption="Behaviour that differs"
        quietCaption
        head={["What", "Before", "Now", "Where"]}
        rows={groups
          .slice(0, MAX_ROWS)
          .map(({ what, before, now, where }) => [
            <Foreign key="what" text={oneLine(what, 160)} />,
            <Foreign key="before" text={oneLine(before, 200)} />,
            <Foreign key="now" text={oneLine(now, 200)} />,
            <Places key="where" where={where} />,
          ])}
      />
      {groups.length > MAX_ROWS ? <p class="note">and {decimal(groups.length - MAX_ROWS)} more</p> : null}
    </>
  );
}

function Places({ where }: { readonly where: readonly string[] }) {
  const list = (some: readonly string[]) => (
    <ul class="plain">
      {some.map((place) => (
        <li key={place}>
          <code>{oneLine(place, 160)}</code>
        </li>
      ))}
    </ul>
  );
  const more = where.slice(MAX_PLACES);
  return (
    <>
      {list(where.slice(0, MAX_PLACES))}
      {more.length === 0 ? null : (
        <details>
          <summary>and {decimal(more.length)} more</summary>
          {list(more)}
        </details>
      )}
    </>
  );
}
