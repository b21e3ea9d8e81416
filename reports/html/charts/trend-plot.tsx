import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import type { Trend } from "../../../src/history/index.ts";
import { oneLine } from "../../clean-text.ts";
import { changeText, valueText } from "../../figures/history-figures.ts";
import { AxisBelow, AxisLeft, BOX, type Box, linearTicks, Mark, n, Sheet, STYLES } from "./frame.tsx";

const [LINE] = STYLES;

/** The values of a metric by run, with the medians before and after its change point. */
export function TrendPlot({ trend }: { readonly trend: Trend }) {
  const { values, changePoint, name } = trend;
  const box: Box = { ...BOX, height: 210, top: 24, left: 64 };
  const numbers = values.map(({ value }) => value);
  const x = scaleLinear([0, Math.max(1, values.length - 1)], [box.left + 8, box.width - box.right - 8]);
  const y = scaleLinear([Math.min(0, ...numbers), Math.max(...numbers) * 1.1 || 1], [box.height - box.bottom, box.top]);
  const at = changePoint === null ? -1 : values.findIndex(({ runId }) => runId === changePoint.runId);
  const path = line<number>(
    (_, index) => n(x(index)),
    (value) => n(y(value)),
  );
  return (
    <figure>
      <figcaption>
        <strong class="foreign">{oneLine(name, 120)}</strong>
        <span class="note">{noteOf(trend)}</span>
      </figcaption>
      <Sheet box={box} label={`${oneLine(name, 120)}, run by run. ${noteOf(trend)}`}>
        <AxisLeft box={box} scale={y} ticks={linearTicks(y, 4)} title={trend.unit} lift={4} />
        <AxisBelow box={box} scale={x} ticks={daysOf(trend)} title="runs, oldest first" />
        <path class={`line-${LINE.stroke}`} d={path(numbers) ?? ""} />
        {values.map(({ runId, startedAt, value }, index) => (
          <Mark
            key={runId}
            style={LINE}
            x={x(index)}
            y={y(value)}
            title={`${oneLine(runId, 40)}, ${startedAt.slice(0, 16)}: ${valueText(trend, value)}`}
          />
        ))}
        {changePoint === null || at < 1 ? null : (
          <g>
            <line class="phase" x1={n(x(at - 0.5))} x2={n(x(at - 0.5))} y1={box.top} y2={box.height - box.bottom} />
            <Level from={x(0)} to={x(at - 0.5)} y={y(changePoint.before)} />
            <Level from={x(at - 0.5)} to={x(values.length - 1)} y={y(changePoint.after)} />
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
function daysOf({ values }: Trend): { at: number; text: string }[] {
  const every = Math.max(1, Math.ceil(values.length / 7));
  return values.flatMap(({ startedAt }, at) =>
    at % every === 0 ? [{ at, text: `${at + 1}: ${startedAt.slice(5, 10)}` }] : [],
  );
}
