import type { Leak, LoadRun, Status } from "../../../src/record/index.ts";
import { oneLine } from "../../clean-text.ts";
import { amountText, slopeText } from "../../watched-figures.ts";
import { type TimePanel, TimePanels } from "../charts/time-panels.tsx";
import { spansOf } from "../load-phases.ts";
import { DataTable, Figure, StatusMark } from "../parts.tsx";

const STATUS = {
  idle: "pass",
  plateau: "pass",
  recovered: "pass",
  growth: "warn",
} as const satisfies Record<NonNullable<Leak["verdict"]>, Status>;

/** What the processes of the target held, on the time axis of the run, and whether they gave it back. */
export function WatchedSide({ run }: { readonly run: LoadRun }) {
  const { watched } = run;
  if (watched === undefined) return null;
  const { samples, leaks, pid } = watched;
  const panel = (title: string, of: (sample: (typeof samples)[number]) => number | null): TimePanel => ({
    title,
    scale: "linear",
    height: 60,
    lines: [{ name: "target", points: samples.map((sample) => ({ atS: sample.atS, value: of(sample) })) }],
  });
  return (
    <>
      <Figure
        title="The target's processes over time"
        note={`Process ${pid} and those that it started, a sample each second.`}
        drawing={
          <TimePanels
            label={`CPU, memory, open files and threads of process ${pid} during ${oneLine(run.name, 40)}. The table below says how each of them developed.`}
            phases={run.phases.flatMap(spansOf)}
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
        caption={`What process ${pid} held during ${oneLine(run.name, 40)}`}
        head={["Resource", "Verdict", ...["First", "Peak", "Last", "Slope"].map((value) => ({ value, number: true }))]}
        rows={leaks.map((leak) => [
          <span key="resource">
            {leak.resource}
            <span class="because">{leak.message}</span>
          </span>,
          <StatusMark
            key="verdict"
            status={leak.verdict === null ? "inconclusive" : STATUS[leak.verdict]}
            label={leak.verdict ?? "not decided"}
          />,
          amountText(leak, leak.first),
          amountText(leak, leak.peak),
          amountText(leak, leak.last),
          slopeText(leak),
        ])}
      />
    </>
  );
}
