import type { LoadRun } from "../../../../src/record/index.ts";
import { oneLine } from "../../../clean-text.ts";
import { amountText, slopeText } from "../../../figures/watched-figures.ts";
import { type TimePanel, TimePanels } from "../../charts/time-panels.tsx";
import { spansOfRun } from "../../load-phases.ts";
import { DataTable, Figure, numbers } from "../../parts.tsx";
import { thinPoints } from "../../thin-series.ts";
import { LeakMark } from "./leak-mark.tsx";
import { WatchedMetrics } from "./watched-metrics.tsx";

/** The target's side of a run on its time axis: the resources of its processes, and its metrics. */
export function WatchedSide({ run }: { readonly run: LoadRun }) {
  return (
    <>
      <WatchedProcesses run={run} />
      <WatchedMetrics run={run} />
    </>
  );
}

/** What the processes of the target held, and whether they released it. */
function WatchedProcesses({ run }: { readonly run: LoadRun }) {
  const processes = run.watched?.processes;
  if (processes === undefined) return null;
  const { samples, leaks, pid, unit } = processes;
  const who = unit === undefined ? `process ${pid}` : `unit ${oneLine(unit.name, 60)}`;
  const panel = (title: string, of: (sample: (typeof samples)[number]) => number | null): TimePanel => ({
    title,
    scale: "linear",
    height: 60,
    lines: [{ name: "target", points: thinPoints(samples.map((sample) => ({ atS: sample.atS, value: of(sample) }))) }],
  });
  return (
    <>
      <Figure
        title="The target's processes over time"
        note={
          unit === undefined
            ? `Process ${pid} and those that it started.`
            : `The control group of ${oneLine(unit.name, 60)}, ${oneLine(unit.cgroup, 120)}.`
        }
        drawing={
          <TimePanels
            label={`CPU, memory, open files and threads of ${who} during ${oneLine(run.name, 40)}. The table below shows how each of them changed.`}
            phases={spansOfRun(run)}
            panels={[
              panel("CPU cores", ({ cpuShare }) => cpuShare),
              panel("memory, MiB", ({ memoryBytes }) => memoryBytes / 2 ** 20),
              panel("open files", ({ openFiles }) => openFiles),
              panel("threads", ({ threads }) => threads),
            ]}
          />
        }
      />
      <DataTable
        caption={`Resources of ${who} during ${oneLine(run.name, 40)}`}
        head={["Resource", "Verdict", ...numbers("First", "Peak", "Last", "Slope")]}
        rows={leaks.map((leak) => [
          <span key="resource">
            {oneLine(leak.resource, 60)}
            <span class="because">{oneLine(leak.message, 160)}</span>
          </span>,
          <LeakMark key="verdict" leak={leak} />,
          amountText(leak, leak.first),
          amountText(leak, leak.peak),
          amountText(leak, leak.last),
          slopeText(leak),
        ])}
      />
    </>
  );
}
