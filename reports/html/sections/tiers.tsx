import {
  type CheckResult,
  checkOfPhase,
  checksOfRun,
  type LoadPhase,
  type LoadRun,
  type RunRecord,
  type Status,
  statusOfFinding,
  worstStatus,
} from "../../../src/record/index.ts";
import { oneLine } from "../../clean-text.ts";
import type { Anchors } from "../anchors.ts";
import { TimeChart } from "../charts/time-chart.tsx";
import { decimal, duration, enumerate, percent, plural } from "../format.ts";
import { DataTable, Figure, Foreign, Permalink, Section, StatusMark } from "../parts.tsx";
import { type Point, thin } from "../thin-series.ts";

/** What was asked of the gateway under load, and what it did. */
export function TiersSection({ record, anchors }: { readonly record: RunRecord; readonly anchors: Anchors }) {
  const runs = record.load?.runs ?? [];
  return (
    <Section id="tiers" title="Under load" finding={sentence(record, runs)}>
      {runs.map((run) => (
        <Tier key={run.name} record={record} run={run} id={anchors.of("tier", run.name)} />
      ))}
    </Section>
  );
}

/** What came of a run: the worst of its checks. */
function statusOfRun({ checks }: RunRecord, run: LoadRun): Status {
  return worstStatus(checksOfRun(checks, run).map(({ status }) => status));
}

function sentence(record: RunRecord, runs: readonly LoadRun[]): string {
  if (runs.length === 0) return "No load was part of this run.";
  const by = (status: Status) =>
    runs.filter((run) => statusOfRun(record, run) === status).map(({ name }) => oneLine(name, 40));
  const parts = [
    by("pass").length === 0 ? "" : `${enumerate(by("pass"))} held`,
    by("warn").length === 0 ? "" : `${enumerate(by("warn"))} held with warnings`,
    by("fail").length === 0 ? "" : `${enumerate(by("fail"))} did not hold`,
    by("inconclusive").length === 0 ? "" : `${enumerate(by("inconclusive"))} could not be decided`,
    by("not-applicable").length === 0 ? "" : `${enumerate(by("not-applicable"))} had nothing to judge`,
  ].filter((part) => part !== "");
  const text = parts.join("; ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function Tier({ record, run, id }: { readonly record: RunRecord; readonly run: LoadRun; readonly id: string }) {
  const checks = checksOfRun(record.checks, run);
  const reasons = checks.filter(({ status }) => status !== "pass" && status !== "observed");
  const phases = run.phases.map(({ name, startS, durationS }) => ({ name: oneLine(name, 24), startS, durationS }));
  const { points, bucketS } = thin(run.phases.flatMap(({ series }) => series).sort((a, b) => a.atS - b.atS));
  const limitPerS = run.limits === null ? undefined : run.limits.rpm / 60;
  return (
    <>
      <h3 id={id}>
        <StatusMark status={statusOfRun(record, run)} /> {oneLine(run.name, 60)}
        <Permalink id={id} what={run.name} />
      </h3>
      <p>
        {run.limits === null
          ? "No limits are known."
          : `Limits: ${decimal(run.limits.rpm)} requests a minute, ${decimal(run.limits.inFlight)} in flight.`}{" "}
        {duration(run.durationS * 1_000)}, engine {run.engine}
        {run.protocol === undefined ? "" : ` over ${run.protocol}`}, {plural(run.keys.length, "key")}.
      </p>
      {reasons.length === 0 ? null : (
        <ul>
          {reasons.map(({ id: check, message }) => (
            <li key={check}>
              <Foreign text={oneLine(`${check.slice("load.".length)}: ${message}`, 300)} />
            </li>
          ))}
        </ul>
      )}
      <PlanTable checks={checks} run={run} />
      {points.length < 2 ? null : (
        <>
          <Figure
            title="Requests over time"
            note={bucketS === 1 ? undefined : `Each point is the mean of ${bucketS} seconds.`}
            drawing={
              <TimeChart
                label={`Offered, admitted, denied and failed requests per second of ${oneLine(run.name, 40)} over ${decimal(run.durationS)} seconds. The table has totals per phase.`}
                unit="requests per second"
                phases={phases}
                limit={
                  limitPerS === undefined
                    ? undefined
                    : { value: limitPerS, name: `limit, ${decimal(limitPerS, 1)}/s on average` }
                }
                lines={[
                  { name: "offered", points: points.map(({ atS, offered }) => ({ atS, value: offered })) },
                  { name: "denied", points: points.map(({ atS, denied }) => ({ atS, value: denied })) },
                  { name: "admitted", points: points.map(({ atS, admitted }) => ({ atS, value: admitted })) },
                  { name: "failed", points: points.map(({ atS, failed }) => ({ atS, value: failed })) },
                ]}
              />
            }
          >
            <SeriesTable points={points} />
          </Figure>
          <Figure
            title="In flight over time"
            drawing={
              <TimeChart
                label={`Requests in flight of ${oneLine(run.name, 40)} over ${decimal(run.durationS)} seconds. The highest was ${decimal(Math.max(...points.map(({ inFlight }) => inFlight)))}.`}
                unit="in flight"
                phases={phases}
                limit={
                  run.limits === null
                    ? undefined
                    : { value: run.limits.inFlight, name: `limit, ${decimal(run.limits.inFlight)}` }
                }
                lines={[{ name: "in flight", points: points.map(({ atS, inFlight }) => ({ atS, value: inFlight })) }]}
              />
            }
          >
            <SeriesTable points={points} />
          </Figure>
        </>
      )}
      <Findings checks={checks} run={run} />
      <Denials run={run} />
    </>
  );
}

interface Judged {
  /** Of the run. */
  readonly checks: readonly CheckResult[];
  readonly run: LoadRun;
}

function PlanTable({ checks, run }: Judged) {
  return (
    <DataTable
      caption={`Plan and outcome of ${oneLine(run.name, 40)}`}
      quietCaption
      head={[
        "Phase",
        "Verdict",
        { value: "Offered", number: true },
        { value: "Sent", number: true },
        { value: "Admitted", number: true },
        { value: "Denied", number: true },
        { value: "Failed", number: true },
        { value: "Dropped", number: true },
        { value: "Admitted/s", number: true },
        { value: "Peak in flight", number: true },
      ]}
      rows={run.phases.map((phase) => [
        <span key="phase">
          {oneLine(phase.title, 60)}
          <span class="because">
            <Foreign text={oneLine(checkOfPhase(checks, run, phase)?.message ?? "", 200)} />
          </span>
        </span>,
        <StatusMark key="verdict" status={checkOfPhase(checks, run, phase)?.status ?? "not-applicable"} />,
        decimal(phase.offered),
        decimal(phase.sent),
        decimal(phase.admitted),
        share(phase, phase.denied),
        share(phase, phase.failed),
        decimal(phase.dropped),
        decimal(phase.rates.admitted, 2),
        decimal(phase.peakInFlight),
      ])}
    />
  );
}

function share({ sent }: LoadPhase, count: number): string {
  return count === 0 || sent === 0 ? decimal(count) : `${decimal(count)} (${percent(count / sent)})`;
}

/** A line of the table every so many seconds: enough to read the course of it. */
function SeriesTable({ points }: { readonly points: readonly Point[] }) {
  const step = Math.max(1, Math.ceil(points.length / 40));
  return (
    <DataTable
      caption="Requests per second and in flight, at some seconds"
      quietCaption
      head={[
        "Second",
        ...["Offered", "Admitted", "Denied", "Failed", "In flight"].map((value) => ({ value, number: true })),
      ]}
      rows={points
        .filter((_, index) => index % step === 0)
        .map(({ atS, offered, admitted, denied, failed, inFlight }) => [
          decimal(atS),
          decimal(offered, 1),
          decimal(admitted, 1),
          decimal(denied, 1),
          decimal(failed, 1),
          decimal(inFlight),
        ])}
    />
  );
}

/** What judges of load said: limiter analysis and fairness are among it, as findings that are observed. */
function Findings({ checks, run }: Judged) {
  const findings = run.phases.flatMap((phase) =>
    (checkOfPhase(checks, run, phase)?.findings ?? []).map((finding) => ({ phase, finding })),
  );
  if (findings.length === 0) return null;
  const order = { broken: 0, undecided: 1, observed: 2, met: 3 };
  findings.sort((a, b) => order[a.finding.outcome] - order[b.finding.outcome]);
  return (
    <>
      <h4>What was judged and observed</h4>
      <DataTable
        caption={`Findings under load of ${oneLine(run.name, 40)}`}
        quietCaption
        head={["Finding", "Status", "Phase", "Expected", "Observed"]}
        rows={findings.map(({ phase, finding }) => [
          <span key="title">
            {oneLine(finding.title ?? finding.name, 120)}
            <span class="because">
              <code>{oneLine(finding.name, 60)}</code> {finding.requirements.join(" ")}
            </span>
          </span>,
          <StatusMark key="status" status={statusOfFinding(finding)} />,
          oneLine(phase.name, 40),
          <Foreign key="expected" text={oneLine(finding.expected ?? "", 200)} />,
          <Foreign key="observed" text={oneLine(finding.observed, 200)} />,
        ])}
      />
    </>
  );
}

function Denials({ run }: { readonly run: LoadRun }) {
  const denials = run.phases.flatMap((phase) => phase.denials.map((denial) => ({ phase: phase.name, ...denial })));
  const failures = run.phases.flatMap((phase) => phase.failures.map((failure) => ({ phase: phase.name, ...failure })));
  return (
    <>
      {denials.length === 0 ? null : (
        <details>
          <summary>Denials by reason</summary>
          <DataTable
            caption="Denials by reason"
            quietCaption
            head={["Reason", "Phase", "Dialect", "Mode", { value: "Denials", number: true }]}
            rows={denials.map(({ reason, phase, dialect, stream, count }) => [
              <code key="reason">{oneLine(reason, 80)}</code>,
              oneLine(phase, 40),
              dialect,
              stream ? "streaming" : "non-streaming",
              decimal(count),
            ])}
          />
        </details>
      )}
      {failures.length === 0 ? null : (
        <details open>
          <summary>Failures by kind</summary>
          <DataTable
            caption="Failures by kind"
            quietCaption
            head={["What", "Phase", { value: "Requests", number: true }, "Exchange"]}
            rows={failures.map(({ what, phase, count, exchange }) => [
              <Foreign key="what" text={oneLine(what, 120)} />,
              oneLine(phase, 40),
              decimal(count),
              exchange === undefined ? "" : <code key="exchange">{oneLine(exchange, 40)}</code>,
            ])}
          />
        </details>
      )}
    </>
  );
}
