import type { ComponentChildren } from "preact";
import type { RunRecord } from "../../src/record/index.ts";
import { visible } from "../clean-text.ts";
import { unexplainedProblems } from "../problems.ts";
import type { ReportSource } from "../source.ts";
import { VERDICT_TONES } from "../status-style.ts";
import { Anchors } from "./anchors.ts";
import { Document, type Head, Masthead } from "./document.tsx";
import { utc } from "./format.ts";
import { CausesSection } from "./sections/causes.tsx";
import { ChangesSection } from "./sections/changes.tsx";
import { CoverageSection } from "./sections/coverage.tsx";
import { DataQualitySection } from "./sections/data-quality.tsx";
import { EnvironmentSection } from "./sections/environment.tsx";
import { Gates } from "./sections/gates.tsx";
import { LatencySection } from "./sections/latency.tsx";
import { OverheadSection } from "./sections/overhead.tsx";
import { RetryAfterSection } from "./sections/retry-after.tsx";
import { TiersSection } from "./sections/tiers.tsx";
import { VerdictSection } from "./sections/verdict.tsx";

export function Page({ source, head }: { readonly source: ReportSource; readonly head: Head }) {
  const { record } = source;
  const anchors = new Anchors();
  const isComparison = record.command === "compare";
  const changes = <ChangesSection record={record} />;
  return (
    <Document title={record.verdict.headline} head={head}>
      <Masthead what="run report">
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
              <CausesSection source={source} anchors={anchors} />
              <TiersSection record={record} anchors={anchors} />
              <RetryAfterSection record={record} />
              <LatencySection source={source} />
              <CoverageSection record={record} anchors={anchors} />
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

function Contents({ record }: { readonly record: RunRecord }) {
  const problems = record.causes.length + unexplainedProblems(record).length;
  const changes = record.comparison === undefined ? [] : [["changes", "What changed"] as const];
  const isComparison = record.command === "compare";
  const ofChecks: (readonly [string, string, ComponentChildren?])[] = [
    ["causes", "Causes", problems === 0 ? undefined : <b key="count">{problems}</b>],
    ["tiers", "Under load"],
    ["retry-after", "Retry-After"],
    ["latency", "Latency"],
    ["coverage", "Coverage"],
    ...(isComparison ? [] : changes),
    ["data-quality", "Data quality"],
  ];
  const entries: (readonly [string, string, ComponentChildren?])[] = [
    ["verdict", "Verdict", <i key="dot" class={`pip ${VERDICT_TONES[record.verdict.result]}`} />],
    ...(record.policy === undefined ? [] : [["gates", "Gates"] as const]),
    ...(isComparison ? changes : []),
    ...(record.overhead === undefined ? ofChecks : [["overhead", "Overhead"] as const]),
    ["environment", "Environment"],
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
