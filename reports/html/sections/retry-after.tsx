import type { LoadRun, RetryAfterFigures, RunRecord } from "../../../src/record/index.ts";
import { oneLine } from "../../clean-text.ts";
import { WaitScatter } from "../charts/wait-scatter.tsx";
import { decimal, duration, percent, plural } from "../format.ts";
import { DataTable, Figure, Section } from "../parts.tsx";

/** Whether Retry-After was sufficient, and whether our own clients waited for it. */
export function RetryAfterSection({ record }: { readonly record: RunRecord }) {
  const runs = (record.load?.runs ?? []).flatMap((run) =>
    run.retryAfter === null ? [] : [{ run, figures: run.retryAfter }],
  );
  return (
    <Section id="retry-after" title="Retry-After" finding={sentence(runs.map(({ figures }) => figures))}>
      {runs.map(({ run, figures }) => (
        <Waits key={run.name} run={run} figures={figures} />
      ))}
    </Section>
  );
}

function sentence(all: readonly RetryAfterFigures[]): string {
  if (all.length === 0)
    return "No Retry-After wait was tested under load in this run; the conformance suites test single ones.";
  const groups = all.flatMap(({ groups: entries }) => entries);
  const sum = (read: (group: RetryAfterFigures["groups"][number]) => number) =>
    groups.reduce((total, group) => total + read(group), 0);
  const [sufficient, insufficient, denials, present] = [
    sum((group) => group.sufficient),
    sum((group) => group.insufficient),
    sum((group) => group.denials),
    sum((group) => group.present),
  ];
  const violations = all.reduce((total, { client }) => total + client.earlySends + client.forbiddenRetries, 0);
  const tested = sufficient + insufficient;
  return [
    tested === 0
      ? "No Retry-After wait could be tested"
      : `${decimal(sufficient)} of ${decimal(tested)} tested Retry-After waits were sufficient (${percent(sufficient / tested)})`,
    denials === present ? "" : `; ${decimal(denials - present)} of ${decimal(denials)} denials had no Retry-After`,
    violations === 0 ? "" : `; the harness itself broke its rules ${plural(violations, "time")}`,
    ".",
  ].join("");
}

function Waits({ run, figures }: { readonly run: LoadRun; readonly figures: RetryAfterFigures }) {
  const { groups, samples, client, fleet } = figures;
  const table = (
    <DataTable
      caption={`Retry-After waits of ${oneLine(run.name, 40)} by reason`}
      quietCaption
      head={[
        "Reason",
        "Kind",
        ...[
          "Denials",
          "With Retry-After",
          "Usable",
          "Sufficient",
          "Insufficient",
          "Contended",
          "Early, admitted",
          "Retry-After p50",
          "Waited p50",
          "Waited p99",
        ].map((value) => ({ value, number: true })),
      ]}
      rows={groups.map((group) => [
        <code key="reason">{oneLine(group.reason, 80)}</code>,
        `${group.dialect}, ${group.stream ? "streaming" : "non-streaming"}`,
        decimal(group.denials),
        decimal(group.present),
        decimal(group.usable),
        decimal(group.sufficient),
        decimal(group.insufficient),
        decimal(group.contended),
        `${decimal(group.earlyAdmitted)} of ${decimal(group.earlyProbes)}`,
        group.retryAfterWaitMs === null ? "–" : duration(group.retryAfterWaitMs.p50),
        group.actualMs === null ? "–" : duration(group.actualMs.p50),
        group.actualMs === null ? "–" : duration(group.actualMs.p99),
      ])}
    />
  );
  const drawn = samples.some(({ retryAfterWaitMs, actualMs }) => retryAfterWaitMs !== null && actualMs !== null);
  return (
    <>
      <h3>{oneLine(run.name, 60)}</h3>
      <p>
        {CLIENTS[figures.clients]} Sent too early: {decimal(client.earlySends)}; retried what must not be:{" "}
        {decimal(client.forbiddenRetries)}; retries in all: {decimal(client.retries)}.
        {fleet === null
          ? ""
          : ` Of ${plural(fleet.clients, "client")} at once ${decimal(fleet.recovered)} recovered${fleet.recoveryS === null ? "" : ` within ${decimal(fleet.recoveryS, 1)} s`}; at most ${percent(fleet.herdShare)} came back within a tenth of a second.`}
      </p>
      {drawn ? (
        <Figure
          title="Retry-After against the actual wait"
          note="On the dashed line the actual wait equals Retry-After. Above it the wait was longer, below it shorter."
          drawing={<WaitScatter samples={samples} />}
        >
          {table}
        </Figure>
      ) : (
        table
      )}
    </>
  );
}

const CLIENTS: Readonly<Record<RetryAfterFigures["clients"], string>> = {
  compliant: "The clients honoured Retry-After.",
  ignoring: "The clients ignored Retry-After, on purpose.",
  none: "Nothing was retried.",
};
