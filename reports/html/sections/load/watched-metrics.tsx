import { seriesName } from "../../../../src/core/index.ts";
import type { Leak, LoadRun, WatchedMetric } from "../../../../src/record/index.ts";
import { oneLine } from "../../../clean-text.ts";
import { droppedSeries, failedScrapes, metricText, scaleOf, slopeText } from "../../../figures/watched-figures.ts";
import { type TimePanel, TimePanels } from "../../charts/time-panels.tsx";
import { spansOfRun } from "../../load-phases.ts";
import { DataTable, Figure, numbers } from "../../parts.tsx";
import { thinPoints } from "../../thin-series.ts";
import { LeakMark } from "./leak-mark.tsx";

/** Maximum number of stacked drawings that a reader can still compare; the table has every series. */
const MAX_PANELS = 12;
const MAX_TITLE_CHARACTERS = 90;

/** Metrics of the target during the load: gauges as values, counters as rates. */
export function WatchedMetrics({ run }: { readonly run: LoadRun }) {
  const metrics = run.watched?.metrics;
  if (metrics === undefined) return null;
  const leaks = new Map(metrics.leaks.map((leak) => [leak.resource, leak]));
  const drawn = drawnOf(metrics.series, leaks);
  const notes = [
    `Scraped from ${oneLine(metrics.url, 120)} every ${metrics.everyS} s; counters are shown as rates.`,
    drawn.length < metrics.series.length
      ? `${drawn.length} of ${metrics.series.length} series are drawn, the table has all of them.`
      : undefined,
    sentence(failedScrapes(metrics)),
    sentence(droppedSeries(metrics.dropped)),
  ];
  return (
    <>
      <Figure
        title="The target's metrics over time"
        note={notes.flatMap((note) => (note === undefined ? [] : [oneLine(note, 600)])).join(" ")}
        drawing={
          <TimePanels
            label={`${drawn.length} metrics of the target during ${oneLine(run.name, 40)}. The table below has each of them.`}
            phases={spansOfRun(run)}
            panels={drawn.map((one) => panelOf(one, metrics.atS))}
          />
        }
      />
      <DataTable
        caption={`Metrics of the target during ${oneLine(run.name, 40)}`}
        head={["Series", "Verdict", ...numbers("First", "Highest", "Last", "Slope")]}
        rows={metrics.series.map((one) => rowOf(one, leaks.get(seriesName(one))))}
      />
    </>
  );
}

const sentence = (text: string | undefined) => (text === undefined ? undefined : `${text}.`);

/** Series that changed; resource usage of processes first. */
function drawnOf(series: readonly WatchedMetric[], leaks: ReadonlyMap<string, Leak>): WatchedMetric[] {
  const changing = series.filter((one) => {
    const [first, ...others] = knownOf(one);
    return others.some((value) => value !== first);
  });
  const isHeld = (one: WatchedMetric) => Number(leaks.has(seriesName(one)));
  return changing.sort((a, b) => isHeld(b) - isHeld(a)).slice(0, MAX_PANELS);
}

function panelOf(series: WatchedMetric, atS: readonly number[]): TimePanel {
  const { by, unit } = scaleOf(series);
  const points = atS.map((second, index) => {
    const value = series.values[index] ?? null;
    return { atS: second, value: value === null ? null : value / by };
  });
  const measured = unit === "" ? "" : `, ${unit.trim()}`;
  return {
    title: `${oneLine(seriesName(series), MAX_TITLE_CHARACTERS)}${measured}`,
    scale: "linear",
    height: 60,
    lines: [{ name: "target", points: thinPoints(points) }],
  };
}

function rowOf(series: WatchedMetric, leak: Leak | undefined) {
  const known = knownOf(series);
  const highest = known.reduce((most: number | undefined, value) => Math.max(most ?? value, value), undefined);
  return [
    <span key="series">
      {oneLine(series.name, 120)}
      {[labelsText(series.labels), leak?.message, restartsText(series.restarts)].map((text) =>
        text === undefined ? null : (
          <span key={text} class="because">
            {oneLine(text, 240)}
          </span>
        ),
      )}
    </span>,
    leak === undefined ? "" : <LeakMark key="verdict" leak={leak} />,
    metricText(series, known[0]),
    metricText(series, highest),
    metricText(series, known.at(-1)),
    leak === undefined ? "" : slopeText(leak),
  ];
}

/** With a space after each comma, so that a narrow page can wrap it. */
function labelsText(labels: WatchedMetric["labels"]): string | undefined {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? undefined : pairs.join(", ");
}

function restartsText(restarts: number | undefined): string | undefined {
  if (restarts === undefined) return undefined;
  return `reset ${restarts === 1 ? "once" : `${restarts} times`}: the process was restarted`;
}

function knownOf({ values }: WatchedMetric): number[] {
  return values.filter((value) => value !== null);
}
