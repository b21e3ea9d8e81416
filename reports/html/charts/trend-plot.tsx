import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import { changeText, type Trend, valueText } from "../../../src/history/index.ts";
import { oneLine } from "../../clean-text.ts";
import { runsOf } from "../../figures/history-figures.ts";
import { AxisBelow, AxisLeft, BOX, type Box, linearTicks, Mark, n, Sheet, STYLES } from "./frame.tsx";

const [LINE] = STYLES;

/** The values of a metric by run, a cross for each run without one, with the medians before and after its change point. */
export function TrendPlot({ trend }: { readonly trend: Trend }) {
  const { values, changePoint, name } = trend;
  const runs = runsOf(trend);
  const box: Box = { ...BOX, height: 210, top: 24, left: 64 };
  const numbers = values.map(({ value }) => value);
  const x = scaleLinear([0, Math.max(1, runs.length - 1)], [box.left + 8, box.width - box.right - 8]);
  const y = scaleLinear([Math.min(0, ...numbers), Math.max(...numbers) * 1.1 || 1], [box.height - box.bottom, box.top]);
  const at = changePoint === null ? -1 : runs.findIndex(({ runId }) => runId === changePoint.runId);
  const path = line<(typeof runs)[number]>(
    (_, index) => n(x(index)),
    (run) => ("value" in run ? n(y(run.value)) : 0),
  ).defined((run) => "value" in run);
  return (
    <figure>
      <figcaption>
        <strong class="foreign">{oneLine(name, 120)}</strong>
        <span class="note">{noteOf(trend)}</span>
      </figcaption>
      <Sheet box={box} label={`${oneLine(name, 120)}, run by run. ${noteOf(trend)}`}>
        <AxisLeft box={box} scale={y} ticks={linearTicks(y, 4)} title={trend.unit} lift={4} />
        <AxisBelow box={box} scale={x} ticks={daysOf(trend)} title="runs, oldest first" />
        <path class={`line-${LINE.stroke}`} d={path(runs) ?? ""} />
        {runs.map((run, index) => {
          const title = `${oneLine(run.runId, 40)}, ${run.startedAt.slice(0, 16)}`;
          return "value" in run ? (
            <Mark
              key={run.runId}
              style={LINE}
              x={x(index)}
              y={y(run.value)}
              title={`${title}: ${valueText(trend, run.value)}`}
            />
          ) : (
            <text key={run.runId} x={n(x(index))} y={n(box.height - box.bottom - 6)} text-anchor="middle">
              <title>{`${title}: no value: ${oneLine(run.why, 200)}`}</title>×
            </text>
          );
        })}
        {changePoint === null || at < 1 ? null : (
          <g>
            <line class="phase" x1={n(x(at - 0.5))} x2={n(x(at - 0.5))} y1={box.top} y2={box.height - box.bottom} />
            <Level from={x(0)} to={x(at - 0.5)} y={y(changePoint.before)} />
            <Level from={x(at - 0.5)} to={x(runs.length - 1)} y={y(changePoint.after)} />
          </g>
        )}
      </Sheet>
    </figure>
  );
}

function Level({ from, to, y }: { readonly from: number; readonly to: number; readonly y: number }) {
  return <line class="limit" x1={n(from)} x2={n(to)} y1={n(y)} y2={n(y)} />;
}

function noteOf(trend: Trend): string {
  const { changePoint, why } = trend;
  if (changePoint === null) return why;
  const { before, after, change, runId, startedAt, build } = changePoint;
  const of = build === null ? "" : ` (${oneLine(build, 40)})`;
  return `From ${valueText(trend, before)} to ${valueText(trend, after)} (${changeText(trend, change)}) with run ${oneLine(runId, 40)}${of} of ${startedAt.slice(0, 10)}.`;
}

/** Dates below some of the runs, as many as fit. */
function daysOf(trend: Trend): { at: number; text: string }[] {
  const runs = runsOf(trend);
  const every = Math.max(1, Math.ceil(runs.length / 7));
  return runs.flatMap(({ startedAt }, at) =>
    at % every === 0 ? [{ at, text: `${at + 1}: ${startedAt.slice(5, 10)}` }] : [],
  );
}
