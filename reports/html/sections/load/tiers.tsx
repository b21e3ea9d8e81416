import {
  checksOfRun,
  type LoadInstance,
  type LoadRun,
  type RunRecord,
  type Status,
  worstStatus,
} from "../../../../src/record/index.ts";
import { oneLine } from "../../../clean-text.ts";
import { unexplainedProblems } from "../../../evidence/problems.ts";
import { isLoadOnly, startedLoads } from "../../../figures/started-loads.ts";
import type { Anchors } from "../../anchors.ts";
import { decimal, duration, enumerate, ms, plural } from "../../format.ts";
import { DataTable, numbers, Permalink, Section, Sentence, StatusMark } from "../../parts.tsx";
import { causeAnchor } from "../causes.tsx";
import { RequestsOverTime } from "./charts.tsx";
import { Events } from "./events.tsx";
import { Headline } from "./headline.tsx";
import { Thresholds } from "./thresholds.tsx";
import { Denials, Failures, LoadFindings, PhaseTable, ToolCallTable, TurnTable } from "./tier-tables.tsx";
import { WatchedSide } from "./watched.tsx";

const SETTLED: readonly Status[] = ["pass", "observed", "not-applicable"];

/** What load was sent to the gateway, and how it responded. */
export function TiersSection({ record, anchors }: { readonly record: RunRecord; readonly anchors: Anchors }) {
  const runs = startedLoads(record);
  return (
    <Section id="tiers" title="Under load" finding={sentence(record, runs)}>
      {runs.map((run) => (
        <Tier key={run.name} record={record} run={run} anchors={anchors} />
      ))}
    </Section>
  );
}

/** The status of a run: the worst of its checks. */
function statusOfRun({ checks }: RunRecord, run: LoadRun): Status {
  return worstStatus(checksOfRun(checks, run).map(({ status }) => status));
}

function sentence(record: RunRecord, runs: readonly LoadRun[]): string {
  const by = (status: Status) =>
    runs.filter((run) => statusOfRun(record, run) === status).map(({ name }) => oneLine(name, 40));
  const parts = [
    by("pass").length === 0 ? "" : `${enumerate(by("pass"))} passed`,
    by("warn").length === 0 ? "" : `${enumerate(by("warn"))} passed with warnings`,
    by("fail").length === 0 ? "" : `${enumerate(by("fail"))} failed`,
    by("inconclusive").length === 0
      ? ""
      : `${enumerate(by("inconclusive"))} ${by("inconclusive").length === 1 ? "is" : "are"} undecided`,
    by("not-applicable").length === 0 ? "" : `${enumerate(by("not-applicable"))} had nothing to judge`,
  ].filter((part) => part !== "");
  return `Loads: ${parts.join("; ")}.`;
}

interface RunProps {
  readonly record: RunRecord;
  readonly run: LoadRun;
  readonly anchors: Anchors;
}

function Tier({ record, run, anchors }: RunProps) {
  const id = anchors.of("tier", run.name);
  return (
    <>
      <h3 id={id}>
        <StatusMark status={statusOfRun(record, run)} /> {oneLine(run.name, 60)}
        <Permalink id={id} what={run.name} />
      </h3>
      <p>
        {run.limits === null
          ? ""
          : `Limits: ${decimal(run.limits.rpm)} requests/min, ${decimal(run.limits.inFlight)} in flight. `}
        {duration(run.durationS * 1_000)}, engine {run.engine}
        {run.protocol === undefined ? "" : ` over ${run.protocol}`}, {plural(run.keys.length, "key")}.
      </p>
      {isLoadOnly(record) ? null : <Headline run={run} />}
      <Reasons record={record} run={run} anchors={anchors} />
      {isLoadOnly(record) ? null : <Thresholds record={record} run={run} />}
      <Events record={record} run={run} />
      <PhaseTable record={record} run={run} />
      <Failures run={run} />
      <TurnTable run={run} />
      <ToolCallTable run={run} />
      {isLoadOnly(record) ? null : <RequestsOverTime run={run} />}
      <ProcessTable run={run} />
      <WatchedSide run={run} />
      <LoadFindings record={record} run={run} anchors={anchors} />
      <Denials run={run} />
    </>
  );
}

/** Names what did not pass, with links to the cause or result, which the page shows only once. */
function Reasons({ record, run, anchors }: RunProps) {
  const open = checksOfRun(record.checks, run).filter(({ status }) => !SETTLED.includes(status));
  if (open.length === 0) return null;
  const hasUnexplained = unexplainedProblems(record).length > 0;
  const links = open.map(({ id }) => {
    const cause = record.causes.findIndex(({ checks }) => checks.includes(id));
    const href = cause >= 0 ? `#${causeAnchor(anchors, cause)}` : hasUnexplained ? "#unexplained" : undefined;
    const name = oneLine(id.slice("load.".length), 120);
    return href === undefined ? name : <a href={href}>{name}</a>;
  });
  return <p>Not passed: {links.flatMap((link, index) => (index === 0 ? [link] : [", ", link]))}.</p>;
}

/** The processes that generated a run together, shards or k6 instances: what each did, and whether it can be trusted. */
function ProcessTable({ run }: { readonly run: LoadRun }) {
  const { instances } = run;
  if (instances === undefined || instances.length === 0) return null;
  const hasLateness = instances.some(({ lateMs }) => lateMs !== undefined);
  const unreliable = instances.filter((instance) => statusOf(instance) !== "pass").length;
  return (
    <DataTable
      caption={`${plural(instances.length, "process", "processes")} sent ${oneLine(run.name, 40)}, ${unreliable === 0 ? "each of them reliably" : `${decimal(unreliable)} of them not reliably`}`}
      head={[
        "Process",
        "Reliable",
        ...numbers("Requests", ...(hasLateness ? ["Began late, ms"] : []), "Time source ahead, ms"),
        "End",
      ]}
      rows={instances.map((instance) => [
        oneLine(instance.name, 40),
        <StatusMark key="reliable" status={statusOf(instance)} label={statusOf(instance) === "pass" ? "yes" : "no"} />,
        decimal(instance.requests),
        ...(hasLateness ? [instance.lateMs === undefined ? "–" : ms(instance.lateMs)] : []),
        clockText(instance),
        <Sentence key="end" text={oneLine([instance.ended, ...(instance.problems ?? [])].join("; "), 300)} />,
      ])}
    />
  );
}

function statusOf({ complete, problems = [] }: LoadInstance): Status {
  return complete && problems.length === 0 ? "pass" : "inconclusive";
}

function clockText({ clockOffsetMs, clockUncertaintyMs }: LoadInstance): string {
  return clockOffsetMs === null ? "–" : `${ms(clockOffsetMs)} ± ${ms(clockUncertaintyMs ?? 0)}`;
}
