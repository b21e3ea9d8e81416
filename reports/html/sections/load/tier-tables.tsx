import { capitalized } from "../../../../src/core/index.ts";
import {
  type CheckResult,
  checkOfPhase,
  type Finding,
  type LoadPhase,
  type LoadRun,
  type Quantiles,
  type RunRecord,
  statusOfFinding,
  statusOfPhase,
} from "../../../../src/record/index.ts";
import { oneLine } from "../../../clean-text.ts";
import { kindOf } from "../../../figures/latency-table.ts";
import { shareText, TOOL_CALL_WORDS } from "../../../figures/tool-call-figures.ts";
import { describeExpected, describeFacts, describeUnsteady } from "../../../text/index.ts";
import type { Anchors } from "../../anchors.ts";
import { bytes, decimal, ms, percent, plural } from "../../format.ts";
import { DataTable, Foreign, numbers, Prose, Sentence, StatusMark } from "../../parts.tsx";
import { causeAnchor } from "../causes.tsx";

interface Of {
  readonly record: RunRecord;
  readonly run: LoadRun;
  readonly anchors: Anchors;
}

/** What each phase sent, and the outcomes; the names are those of the drawings and the other tables. */
export function PhaseTable({ record: { checks }, run }: Omit<Of, "anchors">) {
  const hasDropped = run.phases.some(({ dropped }) => dropped > 0);
  const hasSteady = run.phases.some(({ steady }) => steady !== undefined);
  return (
    <DataTable
      caption={`Plan and outcome of ${oneLine(run.name, 40)}`}
      quietCaption
      head={[
        "Phase",
        "Verdict",
        ...numbers("Offered", "Sent", "Admitted", "Denied", "Failed", "Invalid", ...(hasDropped ? ["Dropped"] : [])),
        ...numbers(
          "Admitted/s, whole phase",
          run.phases.some(({ denied }) => denied > 0) ? "Peak in flight, denied included" : "Peak in flight",
        ),
        ...(hasSteady ? ["Steady state"] : []),
      ]}
      rows={run.phases.map((phase) => [
        <span key="phase">
          {oneLine(phase.name, 40)}
          {phase.title === phase.name ? null : <span class="because">{oneLine(phase.title, 160)}</span>}
        </span>,
        <StatusMark key="verdict" status={statusOfPhase(checks, run, phase) ?? "not-applicable"} />,
        decimal(phase.offered),
        decimal(phase.sent),
        decimal(phase.admitted),
        share(phase, phase.denied),
        share(phase, phase.failed),
        share(phase, phase.invalid),
        ...(hasDropped ? [decimal(phase.dropped)] : []),
        decimal(phase.rates.admitted, 2),
        decimal(phase.peakInFlight),
        ...(hasSteady ? [steadyText(phase)] : []),
      ])}
    />
  );
}

/** When a phase is steady, in seconds of the run. */
function steadyText({ steady, startS }: LoadPhase): string {
  if (steady === undefined) return "–";
  if (steady.fromS === null || steady.toS === null)
    return steady.kind === "too-short"
      ? "too short to tell"
      : `none (${steady.kind}): ${describeUnsteady(steady.kind)}`;
  return steady.fromS === startS ? "throughout" : `${decimal(steady.fromS)} to ${decimal(steady.toS)} s`;
}

/** The turns of sessions separately: contexts grow, and latencies with them. */
export function TurnTable({ run }: Pick<Of, "run">) {
  const sessions = run.phases.flatMap((phase) => phase.sessions ?? [])[0];
  if (sessions === undefined) return null;
  const pair = (of: Quantiles | null) => (of === null ? "–" : `${ms(of.p50)} / ${ms(of.p99)}`);
  return (
    <DataTable
      caption={`Turns of ${oneLine(run.name, 40)}: ${decimal(sessions.completed)} of ${plural(sessions.started, "session")} completed`}
      head={[
        "Turn",
        ...numbers("Requests", "Admitted", "Denied", "Failed", "Mean request"),
        ...numbers("TTFT p50 / p99, ms", "E2E latency p50 / p99, ms"),
      ]}
      rows={sessions.turns.map((turn) => [
        decimal(turn.turn),
        ...[turn.requests, turn.admitted, turn.denied, turn.failed].map((count) => decimal(count)),
        bytes(turn.meanRequestBytes),
        pair(turn.ttftMs),
        pair(turn.responseMs),
      ])}
    />
  );
}

/** Tool calls by what a client finds when it reads them, for phases whose requests have tools. */
export function ToolCallTable({ run }: Pick<Of, "run">) {
  const phases = run.phases.flatMap(({ name, toolCalls }) => (toolCalls === undefined ? [] : [{ name, toolCalls }]));
  if (phases.length === 0) return null;
  return (
    <DataTable
      caption={`Tool calls of ${oneLine(run.name, 40)}, each kind with its share and 95 % interval`}
      head={[
        "Phase",
        ...numbers(
          "Replies",
          "With calls",
          "Calls",
          ...TOOL_CALL_WORDS.map(([, word]) => capitalized(word)),
          "Cut off",
        ),
      ]}
      rows={phases.map(({ name, toolCalls }) => [
        oneLine(name, 40),
        ...[toolCalls.replies, toolCalls.withCalls, toolCalls.calls].map((count) => decimal(count)),
        ...TOOL_CALL_WORDS.map(([kind]) => `${decimal(toolCalls[kind])} ${shareText(toolCalls, kind)}`.trim()),
        decimal(toolCalls.cutOff),
      ])}
    />
  );
}

function share({ sent }: LoadPhase, count: number): string {
  return count === 0 || sent === 0
    ? decimal(count)
    : `${decimal(count)} (${percent(count / sent)})`.replaceAll(" ", "\u00a0");
}

/** Findings of load checks, including limiter analysis and fairness, which are observed findings. */
export function LoadFindings({ record, run, anchors }: Of) {
  const findings = run.phases.flatMap((phase) => {
    const check = checkOfPhase(record.checks, run, phase);
    return (check?.findings ?? []).map((finding) => ({ phase, finding, check }));
  });
  if (findings.length === 0) return null;
  // In the order in which the phases ran; what is broken comes before what is undecided.
  const broken = findings.filter(({ finding }) => finding.outcome === "broken");
  const undecided = findings.filter(({ finding }) => finding.outcome === "undecided");
  const table = (some: typeof findings, caption: string) => (
    <DataTable
      caption={`${caption} of ${oneLine(run.name, 40)}`}
      quietCaption
      head={["Finding", "Status", "Phase", "Expected", "Observed"]}
      rows={some.map(({ phase, finding, check }) => [
        <span key="title">
          <FindingTitle finding={finding} cause={causeOf(record, check, finding)} anchors={anchors} />
          <span class="because">
            <code>{oneLine(finding.name, 60)}</code> {finding.requirements.join(" ")}
          </span>
        </span>,
        <StatusMark key="status" status={statusOfFinding(finding)} />,
        <span key="phase" class="nowrap">
          {oneLine(phase.name, 40)}
        </span>,
        <Sentence
          key="expected"
          text={oneLine(finding.expected === undefined ? "" : describeExpected(finding.expected), 200)}
        />,
        <Sentence key="observed" text={oneLine(describeFacts(finding), 200)} />,
      ])}
    />
  );
  const open = [...broken, ...undecided];
  const settled = findings.filter((entry) => !open.includes(entry));
  return (
    <>
      {open.length === 0 ? null : table(open, "Expectations that were not met, or are undecided,")}
      {settled.length === 0 ? null : (
        <details>
          <summary>{plural(settled.length, "expectation")} met or only observed</summary>
          {table(settled, "Expectations met or only observed")}
        </details>
      )}
    </>
  );
}

/** Index of the cause of a broken finding among the causes of the record. */
function causeOf({ causes }: RunRecord, check: CheckResult | undefined, finding: Finding): number | undefined {
  const index = causes.findIndex(
    (cause) =>
      check !== undefined &&
      cause.checks.includes(check.id) &&
      finding.requirements.some((id) => cause.requirements.includes(id)),
  );
  return finding.outcome === "broken" && index >= 0 ? index : undefined;
}

interface FindingTitleProps {
  readonly finding: Finding;
  readonly cause: number | undefined;
  readonly anchors: Anchors;
}

function FindingTitle({ finding, cause, anchors }: FindingTitleProps) {
  const title = <Prose text={oneLine(finding.title ?? finding.name, 120)} />;
  return cause === undefined ? <span>{title}</span> : <a href={`#${causeAnchor(anchors, cause)}`}>{title}</a>;
}

/** What failed, and which 2xx replies no client could use, with an exchange of each kind. */
export function Failures({ run }: { readonly run: LoadRun }) {
  const failures = run.phases.flatMap((phase) => phase.failures.map((failure) => ({ phase: phase.name, ...failure })));
  const invalid = run.phases.flatMap((phase) => phase.invalidReplies.map((reply) => ({ phase: phase.name, ...reply })));
  return (
    <>
      <ByKind caption={`Failures of ${oneLine(run.name, 40)} by kind`} entries={failures} />
      <ByKind caption={`Invalid 2xx replies of ${oneLine(run.name, 40)} by defect`} entries={invalid} />
    </>
  );
}

export function Denials({ run }: { readonly run: LoadRun }) {
  const denials = run.phases.flatMap((phase) => phase.denials.map((denial) => ({ phase: phase.name, ...denial })));
  if (denials.length === 0) return null;
  return (
    <details>
      <summary>Denials by reason</summary>
      <DataTable
        caption={`Denials of ${oneLine(run.name, 40)} by reason`}
        head={["Reason", "Phase", "Kind", ...numbers("Denials")]}
        rows={denials.map(({ reason, phase, count, ...kind }) => [
          <code key="reason">{oneLine(reason, 80)}</code>,
          oneLine(phase, 40),
          kindOf(kind),
          decimal(count),
        ])}
      />
    </details>
  );
}

interface CountedKind {
  readonly what: string;
  readonly phase: string;
  readonly count: number;
  readonly exchange?: string | undefined;
}

function ByKind({ caption, entries }: { readonly caption: string; readonly entries: readonly CountedKind[] }) {
  if (entries.length === 0) return null;
  return (
    <DataTable
      caption={caption}
      head={["What", "Phase", ...numbers("Requests"), "Exchange"]}
      rows={entries.map(({ what, phase, count, exchange }) => [
        <Foreign key="what" text={oneLine(what, 120)} />,
        oneLine(phase, 40),
        decimal(count),
        exchange === undefined ? "" : <code key="exchange">{oneLine(exchange, 40)}</code>,
      ])}
    />
  );
}
