import { capitalized, utc } from "../../src/core/index.ts";
import { changedFirst, changeText, type HistoryReport, type Trend, valueText } from "../../src/history/index.ts";
import { oneLine, visible } from "../clean-text.ts";
import { byGroup, factsOfHistory, mainTrends, runsWithoutValues, TREND_STATUS } from "../figures/history-figures.ts";
import { VERDICT_TONES } from "../status-style.ts";
import { describeHistory, historyWord } from "../text/index.ts";
import { TrendPlot } from "./charts/trend-plot.tsx";
import { Document, type Head, Masthead } from "./document.tsx";
import { plural } from "./format.ts";
import { DataTable, Facts, Foreign, numbers, Section, SentenceList, StatusMark } from "./parts.tsx";
import { Shape } from "./sections/verdict.tsx";

interface RunsProps {
  readonly history: HistoryReport;
  /** Address of the report in the folder of a run, if there is one. */
  readonly reportOf: (folder: string) => string | undefined;
}

/** The trends of a history, group by group. */
export function HistoryPage({ history, reportOf, head }: RunsProps & { readonly head: Head }) {
  const groups = byGroup(history.trends);
  return (
    <Document
      title={`${historyWord(factsOfHistory(history))}: history of ${plural(history.runs.length, "run")}`}
      head={head}
    >
      <Masthead what="history">{utc(history.runs.at(-1)?.startedAt ?? "")}</Masthead>
      <div class="frame">
        <nav class="toc" aria-label="Sections">
          <ol>
            <li>
              <a href="#verdict">Verdict</a>
              <i class={`pip ${VERDICT_TONES[history.verdict]}`} />
            </li>
            {groups.map(({ group }, index) => (
              <li key={index}>
                <a href={`#group-${index + 1}`}>{oneLine(group.name, 30)}</a>
              </li>
            ))}
            <li>
              <a href="#runs">Runs</a>
            </li>
          </ol>
        </nav>
        <main id="main">
          <Verdict history={history} />
          {groups.map(({ group, trends }, index) => (
            <GroupSection key={index} id={`group-${index + 1}`} group={group} trends={trends} />
          ))}
          <Runs history={history} reportOf={reportOf} />
        </main>
      </div>
    </Document>
  );
}

const WORDS = { pass: "Pass", fail: "Fail", inconclusive: "Inconclusive", collecting: "Collecting" } as const;

function Verdict({ history }: { readonly history: HistoryReport }) {
  const { verdict, reasons, runs, trends } = history;
  const facts = factsOfHistory(history);
  const sentence = describeHistory(facts);
  const tone = VERDICT_TONES[verdict];
  const changed = trends.filter(({ changePoint }) => changePoint !== null).length;
  return (
    <section id="verdict" class={`verdict ${tone}`} aria-labelledby="verdict-title">
      <div class="headline">
        <Shape tone={tone} result={verdict} />
        <div>
          <h1 id="verdict-title">
            <span class="result">{WORDS[historyWord(facts)]}</span>
          </h1>
          <p class="lead">{oneLine(`${capitalized(sentence)}.`, 300)}</p>
          <p>{`${plural(trends.length, "metric")} of ${plural(runs.length, "run")}; ${changed} changed.`}</p>
        </div>
      </div>
      <SentenceList texts={trends.length === 0 ? [] : reasons} />
    </section>
  );
}

/** Metrics of a group that are always drawn, whether they changed or not. */
const MAX_MAIN = 3;

interface GroupSectionProps {
  readonly id: string;
  readonly group: Trend["group"];
  readonly trends: readonly Trend[];
}

/** How many metrics changed, and how many could not be decided. */
function changesText(trends: readonly Trend[]): string {
  const changed = trends.filter(({ changePoint }) => changePoint !== null).length;
  const open = trends.filter(({ verdict }) => verdict === "inconclusive").length;
  if (open === trends.length) return "No metric could be decided yet.";
  const undecided = open === 0 ? "" : `; ${open} could not be decided`;
  return `${changed === 0 ? "No metric" : `${changed} of ${trends.length} metrics`} changed${undecided}.`;
}

function GroupSection({ id, group, trends }: GroupSectionProps) {
  const changed = trends.filter(({ changePoint }) => changePoint !== null);
  const main = mainTrends(trends, MAX_MAIN).filter((trend) => !changed.includes(trend));
  const steady = trends.filter(
    (trend) => trend.changePoint === null && trend.values.length > 1 && !main.includes(trend),
  );
  return (
    <Section id={id} title={oneLine(`${group.target}, ${group.name}`, 80)} finding={changesText(trends)}>
      <Facts
        pairs={[
          ["Address", <Foreign key="address" text={group.address} />],
          ["Workload", <code key="workload">{visible(group.workload)}</code>],
          ["Measured on", <Foreign key="machine" text={group.machine} />],
        ]}
      />
      {runsWithoutValues(trends).map(({ runId, startedAt, why }) => (
        <p key={runId} class="note">
          {`Run ${oneLine(runId, 40)} of ${utc(startedAt)} has no values (× in the charts): ${oneLine(why, 300)}`}
        </p>
      ))}
      {[...changed, ...main].map((trend) => (
        <TrendPlot key={trend.name} trend={trend} />
      ))}
      <TrendTable caption={oneLine(`Metrics of ${group.name}, workload ${group.workload}`, 100)} trends={trends} />
      {steady.length === 0 ? null : (
        <details>
          <summary>{plural(steady.length, "more metric")} without a change, run by run</summary>
          {steady.map((trend) => (
            <TrendPlot key={trend.name} trend={trend} />
          ))}
        </details>
      )}
    </Section>
  );
}

function TrendTable({ caption, trends }: { readonly caption: string; readonly trends: readonly Trend[] }) {
  return (
    <DataTable
      caption={caption}
      head={["Metric", ...numbers("Runs", "Latest", "Median before", "Change", "Detectable"), "Trend"]}
      rows={changedFirst(trends).map((trend) => [
        <span key="name">
          {oneLine(trend.name, 120)}
          <span class="because">{oneLine(trend.why, 200)}</span>
        </span>,
        String(trend.values.length),
        trend.isMissing === true ? "no value in the latest run" : valueText(trend, trend.latest),
        valueText(trend, trend.medianBefore),
        changeText(trend, trend.change),
        changeText(trend, trend.detectable),
        <StatusMark key="verdict" status={TREND_STATUS[trend.verdict]} label={trend.verdict} />,
      ])}
    />
  );
}

function Runs({ history: { runs, notImported }, reportOf }: RunsProps) {
  const hasFolders = runs.some(({ folder }) => folder !== undefined);
  return (
    <Section id="runs" title="Runs" finding={`${plural(runs.length, "run")}, newest first.`}>
      {notImported.length === 0 ? null : (
        <ul>
          {notImported.map(({ dir, why }) => (
            <li key={dir}>{`Not imported: ${oneLine(dir)}: ${oneLine(why)}`}</li>
          ))}
        </ul>
      )}
      <DataTable
        caption="Runs"
        quietCaption
        head={["Run", ...(hasFolders ? ["Folder"] : []), "Started", "Target", "Command", "Verdict"]}
        rows={[...runs]
          .reverse()
          .map(({ runId, folder, startedAt, target, build, command, verdict }) => [
            <code key="run">{visible(runId)}</code>,
            ...(hasFolders
              ? [folder === undefined ? "–" : <RunFolder folder={folder} report={reportOf(folder)} />]
              : []),
            utc(startedAt),
            oneLine(build === null ? target : `${target} (${build})`, 80),
            visible(command),
            visible(verdict),
          ])}
      />
    </Section>
  );
}

function RunFolder({ folder, report }: { readonly folder: string; readonly report: string | undefined }) {
  const name = oneLine(folder, 120);
  return report === undefined ? <span>{name}</span> : <a href={report}>{name}</a>;
}
