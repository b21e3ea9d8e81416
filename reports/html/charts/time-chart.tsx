import { scaleLinear } from "d3-scale";
import { area, curveStepAfter, line } from "d3-shape";
import { AxisBelow, AxisLeft, BOX, Legend, linearTicks, n, Sheet, styleOf } from "./frame.tsx";
import { PhaseMarks, type PhaseSpan } from "./phase-marks.tsx";

export interface TimeLine {
  readonly name: string;
  readonly points: readonly { readonly atS: number; readonly value: number }[];
}

export interface Band {
  readonly name: string;
  readonly points: readonly { readonly atS: number; readonly low: number; readonly high: number }[];
}

/** Lines over seconds, with a limit across and phases marked above. */
export function TimeChart({
  label,
  unit,
  lines,
  bands = [],
  limit,
  phases,
}: {
  readonly label: string;
  readonly unit: string;
  readonly lines: readonly TimeLine[];
  readonly bands?: readonly Band[];
  readonly limit?: { readonly value: number; readonly name: string } | undefined;
  readonly phases: readonly PhaseSpan[];
}) {
  const all = [
    ...lines.flatMap(({ points }) => points.map(({ value }) => value)),
    ...bands.flatMap(({ points }) => points.map(({ high }) => high)),
  ];
  const end = Math.max(
    1,
    ...phases.map(({ startS, durationS }) => startS + durationS),
    ...lines.flatMap(({ points }) => points.map(({ atS }) => atS)),
  );
  const box = { ...BOX, height: 264, top: 42 };
  const x = scaleLinear([0, end], [box.left, box.width - box.right]);
  const y = scaleLinear([0, Math.max(1, limit?.value ?? 0, ...all) * 1.05], [box.height - box.bottom, box.top]);
  const path = line<{ atS: number; value: number }>(
    (point) => n(x(point.atS)),
    (point) => n(y(point.value)),
  ).curve(curveStepAfter);
  const fill = area<{ atS: number; low: number; high: number }>(
    (point) => n(x(point.atS)),
    (point) => n(y(point.low)),
    (point) => n(y(point.high)),
  );
  return (
    <>
      <Legend entries={[...bands, ...lines].map(({ name }, index) => ({ name, style: styleOf(index) }))} />
      <Sheet box={box} label={label}>
        <AxisLeft box={box} scale={y} ticks={linearTicks(y, 5)} title={unit} lift={20} />
        <AxisBelow box={box} scale={x} ticks={linearTicks(x, 8)} title="seconds from the start" />
        <PhaseMarks box={box} x={x} phases={phases} />
        {bands.map(({ name, points }, index) => (
          <path key={name} class={`area-${styleOf(index).stroke}`} d={fill([...points]) ?? ""} />
        ))}
        {limit === undefined ? null : (
          <g>
            <line
              class="limit"
              x1={box.left}
              x2={box.width - box.right}
              y1={n(y(limit.value))}
              y2={n(y(limit.value))}
            />
            <text class="strong" x={box.width - box.right} y={n(y(limit.value)) - 4} text-anchor="end">
              {limit.name}
            </text>
          </g>
        )}
        {lines.map(({ name, points }, index) => {
          const style = styleOf(index + bands.length);
          return (
            <path key={name} class={`line-${style.stroke}`} d={path([...points]) ?? ""} stroke-dasharray={style.dash} />
          );
        })}
      </Sheet>
    </>
  );
}
