import type { LoadRun, RetryAfterFigures, RunRecord } from "../../../../src/record/index.ts";
import { oneLine } from "../../../clean-text.ts";
import { kindOf } from "../../../figures/latency-table.ts";
import { startedLoads } from "../../../figures/started-loads.ts";
import { WaitPanels, waitsOf } from "../../charts/wait-panels.tsx";
import { decimal, duration, percent, plural } from "../../format.ts";
import { DataTable, Figure, numbers, Section } from "../../parts.tsx";

/** The load runs with denials whose waits can be shown. */
export function waitingRuns(record: RunRecord): Tested[] {
  return startedLoads(record).flatMap((run) =>
    run.retryAfter === null || run.retryAfter.groups.length === 0 ? [] : [{ run, figures: run.retryAfter }],
  );
}

/** Whether Retry-After was sufficient, and whether our own clients waited for it. */
export function RetryAfterSection({ record }: { readonly record: RunRecord }) {
  const runs = waitingRuns(record);
  return (
    <Section id="retry-after" title="Retry-After" finding={sentence(runs.map(({ figures }) => figures))}>
      <Waits runs={runs} />
    </Section>
  );
}

function sentence(all: readonly RetryAfterFigures[]): string {
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
    violations === 0 ? "" : `; Gauntlet itself violated the retry rules ${plural(violations, "time")}`,
    ".",
  ].join("");
}

interface Tested {
  readonly run: LoadRun;
  readonly figures: RetryAfterFigures;
}

function Waits({ runs }: { readonly runs: readonly Tested[] }) {
  const panels = runs.map(({ run, figures }) => ({ name: run.name, samples: figures.samples }));
  return (
    <>
      <ul>
        {runs.map(({ run, figures }) => (
          <li key={run.name}>
            <strong>{oneLine(run.name, 60)}</strong>: {clientsInWords(figures)}
          </li>
        ))}
      </ul>
      {panels.every(({ samples }) => waitsOf(samples).length === 0) ? null : (
        <Figure
          title="Retry-After against the actual wait"
          note="On the dashed line the actual wait equals Retry-After. Above it the wait was longer, below it shorter."
          drawing={<WaitPanels panels={panels} />}
        />
      )}
      <details
        class="on-paper"
        open={runs.some(({ figures }) => figures.groups.some((group) => group.insufficient > 0))}
      >
        <summary>Waits by run, reason and kind</summary>
        <WaitTable runs={runs} />
      </details>
    </>
  );
}

function clientsInWords({ clients, client, fleet }: RetryAfterFigures): string {
  const together =
    fleet === null
      ? ""
      : ` Of ${plural(fleet.clients, "concurrent client")}, ${decimal(fleet.recovered)} recovered${fleet.recoveryS === null ? "" : ` within ${decimal(fleet.recoveryS, 1)} s`}; at most ${percent(fleet.herdShare)} retried within the same tenth of a second.`;
  return `${CLIENTS[clients]} Sent too early: ${decimal(client.earlySends)}; forbidden retries: ${decimal(client.forbiddenRetries)}; retries in total: ${decimal(client.retries)}.${together}`;
}

function WaitTable({ runs }: { readonly runs: readonly Tested[] }) {
  return (
    <DataTable
      caption="Retry-After waits by run, reason and kind"
      quietCaption
      head={[
        "Run",
        "Reason",
        "Kind",
        ...numbers(
          "Denials",
          "With Retry-After",
          "Usable",
          "Sufficient",
          "Insufficient",
          "Contended",
          "Early, admitted",
          "Retry-After p50",
          "Waited p50 / p95 / p99",
        ),
      ]}
      rows={runs.flatMap(({ run, figures }) =>
        figures.groups.map((group) => [
          oneLine(run.name, 40),
          <code key="reason" class="nowrap">
            {oneLine(group.reason, 80)}
          </code>,
          <span key="kind" class="nowrap">
            {kindOf(group)}
          </span>,
          decimal(group.denials),
          decimal(group.present),
          decimal(group.usable),
          decimal(group.sufficient),
          decimal(group.insufficient),
          decimal(group.contended),
          `${decimal(group.earlyAdmitted)} of ${decimal(group.earlyProbes)}`,
          group.retryAfterWaitMs === null ? "–" : duration(group.retryAfterWaitMs.p50),
          group.actualMs === null
            ? "–"
            : [group.actualMs.p50, group.actualMs.p95, group.actualMs.p99].map(duration).join(" / "),
        ]),
      )}
    />
  );
}

const CLIENTS: Readonly<Record<RetryAfterFigures["clients"], string>> = {
  compliant: "The clients honoured Retry-After.",
  ignoring: "The clients ignored Retry-After, on purpose.",
  none: "Nothing was retried.",
};
