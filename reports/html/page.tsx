import type { ComponentChildren } from "preact";
import { utc } from "../../src/core/index.ts";
import type { RunRecord } from "../../src/record/index.ts";
import { visible } from "../clean-text.ts";
import { decisiveProblems, isDecisive, type ProblemGroup, unexplainedProblems } from "../evidence/problems.ts";
import type { ReportSource } from "../evidence/source.ts";
import { isLoadOnly, startedLoads } from "../figures/started-loads.ts";
import { TONES, type Tone, VERDICT_TONES } from "../status-style.ts";
import { Anchors } from "./anchors.ts";
import { Document, type Head, Masthead } from "./document.tsx";
import { CausesSection, causesTitle } from "./sections/causes.tsx";
import { ChangesSection } from "./sections/changes.tsx";
import { CoverageSection } from "./sections/coverage.tsx";
import { DataQualitySection } from "./sections/data-quality.tsx";
import { EnvironmentSection, secondRun } from "./sections/environment.tsx";
import { Gates } from "./sections/gates.tsx";
import { ChartsSection, runsWithCharts } from "./sections/load/charts.tsx";
import { LatencySection } from "./sections/load/latency.tsx";
import { OverheadSection } from "./sections/load/overhead.tsx";
import { RetryAfterSection, waitingRuns } from "./sections/load/retry-after.tsx";
import { loadsWithThresholds, ThresholdsSection } from "./sections/load/thresholds.tsx";
import { TiersSection } from "./sections/load/tiers.tsx";
import { VerdictSection } from "./sections/verdict.tsx";

export function Page({ source, head }: { readonly source: ReportSource; readonly head: Head }) {
  const { record } = source;
  const anchors = new Anchors();
  const isComparison = record.command === "compare";
  const changes = <ChangesSection record={record} />;
  const second = secondRun(record);
  return (
    <Document title={record.verdict.headline} head={head}>
      <Masthead what="run report">
        {second === undefined ? "" : `second run (${second}): `}
        {utc(record.startedAt)} · <code>{visible(record.runId)}</code>
      </Masthead>
      <div class="frame">
        <Contents record={record} />
        <main id="main">
          <VerdictSection record={record} anchors={anchors} />
          <Gates record={record} />
          {isComparison ? changes : null}
          {record.overhead === undefined ? (
            <>
              {hasThresholds(record) ? <ThresholdsSection record={record} /> : null}
              {hasCharts(record) ? <ChartsSection record={record} anchors={anchors} /> : null}
              {hasCauses(record) ? <CausesSection source={source} anchors={anchors} /> : null}
              {hasLoad(record) ? <TiersSection record={record} anchors={anchors} /> : null}
              {hasWaits(record) ? <RetryAfterSection record={record} /> : null}
              {hasLatencies(record) ? <LatencySection source={source} /> : null}
              {hasCoverage(record) ? <CoverageSection record={record} anchors={anchors} /> : null}
              {isComparison ? null : changes}
              <DataQualitySection record={record} />
            </>
          ) : (
            <OverheadSection overhead={record.overhead} />
          )}
          <EnvironmentSection record={record} />
        </main>
      </div>
    </Document>
  );
}

/** A section that would say only that there is nothing to show is omitted. */
const hasChecks = (record: RunRecord): boolean => record.checks.length > 0;
const hasThresholds = (record: RunRecord): boolean => isLoadOnly(record) && loadsWithThresholds(record).length > 0;
/** On the page of a load, the charts come right after the thresholds. */
const hasCharts = (record: RunRecord): boolean => isLoadOnly(record) && runsWithCharts(record).length > 0;
const hasCoverage = (record: RunRecord): boolean => hasChecks(record) && !isLoadOnly(record);
const hasCauses = (record: RunRecord): boolean => record.causes.length + unexplainedProblems(record).length > 0;
const hasLoad = (record: RunRecord): boolean => startedLoads(record).length > 0;
const hasWaits = (record: RunRecord): boolean => waitingRuns(record).length > 0;
const hasLatencies = (record: RunRecord): boolean =>
  startedLoads(record).some(({ phases }) => phases.some(({ classes }) => classes.length > 0));

function Contents({ record }: { readonly record: RunRecord }) {
  const others = unexplainedProblems(record);
  const changes = record.comparison === undefined ? [] : [["changes", "What changed"] as const];
  const isComparison = record.command === "compare";
  const decisive = record.causes.filter(({ checks }) => isDecisive(record, checks));
  const causes = [record.causes.length, worstTone(decisive.map(({ weight }) => TONES[weight]))] as const;
  const unexplained = [others.length, worstTone(decisiveProblems(record).flatMap(tonesOf))] as const;
  const problems: readonly (readonly [string, string, ComponentChildren])[] =
    record.causes.length === 0
      ? [["causes", causesTitle(record), count(...unexplained)]]
      : [
          ["causes", "Causes", count(...causes)],
          ...(others.length === 0 ? [] : [["unexplained", "Without a cause", count(...unexplained)] as const]),
        ];
  const ofChecks: (readonly [string, string, ComponentChildren?])[] = [
    ...(hasThresholds(record) ? [["thresholds", "Thresholds"] as const] : []),
    ...(hasCharts(record) ? [["charts", "Over time"] as const] : []),
    ...(hasCauses(record) ? problems : []),
    ...(hasLoad(record) ? [["tiers", "Under load"] as const] : []),
    ...(hasWaits(record) ? [["retry-after", "Retry-After"] as const] : []),
    ...(hasLatencies(record) ? [["latency", "Latency"] as const] : []),
    ...(hasCoverage(record) ? [["coverage", "Coverage"] as const] : []),
    ...(isComparison ? [] : changes),
    ["data-quality", "Data quality"],
  ];
  const entries: (readonly [string, string, ComponentChildren?])[] = [
    ["verdict", "Verdict", <i key="dot" class={`pip ${VERDICT_TONES[record.verdict.result]}`} />],
    ...(record.policy === undefined ? [] : [["gates", "Gates"] as const]),
    ...(isComparison ? changes : []),
    ...(record.overhead === undefined ? ofChecks : [["overhead", "Overhead"] as const]),
    ["environment", "Environment and method"],
  ];
  return (
    <nav class="toc" aria-label="Sections">
      <ol>
        {entries.map(([id, title, extra]) => (
          <li key={id}>
            <a href={`#${id}`}>{title}</a>
            {extra}
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Red only if something failed that is not waived. */
const worstTone = (tones: readonly Tone[]): Tone =>
  (["bad", "caution", "held"] as const).find((tone) => tones.includes(tone)) ?? "quiet";

const tonesOf = ({ instances }: ProblemGroup): Tone[] =>
  instances.map(({ status, waived }) => (waived === undefined ? TONES[status] : "caution"));

const count = (problems: number, tone: Tone) => (
  <b key="count" class={tone}>
    {problems}
  </b>
);
