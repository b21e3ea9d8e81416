import type { LoadInstance, LoadRun, Status } from "../../../../src/record/index.ts";
import { oneLine } from "../../../clean-text.ts";
import { decimal, ms, plural } from "../../format.ts";
import { DataTable, Foreign, numbers, StatusMark } from "../../parts.tsx";

/** The processes that generated a run together, shards or k6 instances: what each did, and whether it can be trusted. */
export function ProcessTable({ run }: { readonly run: LoadRun }) {
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
        <Foreign key="end" text={oneLine([instance.ended, ...(instance.problems ?? [])].join("; "), 300)} />,
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
