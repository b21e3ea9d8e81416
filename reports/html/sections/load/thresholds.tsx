import {
  checksOfThresholds,
  type Finding,
  type LoadRun,
  type RunRecord,
  statusOfFinding,
} from "../../../../src/record/index.ts";
import { oneLine } from "../../../clean-text.ts";
import { startedLoads } from "../../../figures/started-loads.ts";
import { describeFacts } from "../../../text/index.ts";
import { decimal, plural } from "../../format.ts";
import { DataTable, Section, Sentence, StatusMark } from "../../parts.tsx";

/** The thresholds of all workloads, first on the page of a load: they are the question of its author. */
export function ThresholdsSection({ record }: { readonly record: RunRecord }) {
  const runs = loadsWithThresholds(record);
  return (
    <Section id="thresholds" title="Thresholds" finding={sentence(runs.flatMap((run) => findingsOf(record, run)))}>
      {runs.map((run) => (
        <Thresholds key={run.name} record={record} run={run} />
      ))}
    </Section>
  );
}

export const loadsWithThresholds = (record: RunRecord): LoadRun[] =>
  startedLoads(record).filter((run) => findingsOf(record, run).length > 0);

const findingsOf = ({ checks }: Pick<RunRecord, "checks">, run: LoadRun): readonly Finding[] =>
  checksOfThresholds(checks, run).flatMap(({ findings }) => findings);

function sentence(findings: readonly Finding[]): string {
  const count = (outcome: Finding["outcome"]) => findings.filter((finding) => finding.outcome === outcome).length;
  const [broken, undecided] = [count("broken"), count("undecided")];
  const parts = [
    `${decimal(count("met"))} of ${plural(findings.length, "threshold")} met`,
    ...(broken === 0 ? [] : [`${decimal(broken)} crossed`]),
    ...(undecided === 0 ? [] : [`${decimal(undecided)} could not be decided`]),
  ];
  return `${parts.join(", ")}.`;
}

/** The thresholds of a workload, each with its value. */
export function Thresholds({ record, run }: { readonly record: Pick<RunRecord, "checks">; readonly run: LoadRun }) {
  const findings = findingsOf(record, run);
  if (findings.length === 0) return null;
  return (
    <DataTable
      caption={`Thresholds of ${oneLine(run.name, 40)}`}
      quietCaption
      head={["Threshold", "Outcome", "Value"]}
      rows={findings.map((finding) => [
        <code key="threshold">{oneLine(finding.name, 200)}</code>,
        <StatusMark key="outcome" status={statusOfFinding(finding)} />,
        <Sentence key="value" text={oneLine(describeFacts(finding), 240)} />,
      ])}
    />
  );
}
