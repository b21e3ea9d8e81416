import { scaleLinear, scaleLog } from "d3-scale";
import { curveLinear, curveStepAfter, line } from "d3-shape";
import {
  AxisBelow,
  AxisLeft,
  BOX,
  type Box,
  Legend,
  linearTicks,
  logTicks,
  n,
  type Scale,
  Sheet,
  type Style,
  styleOf,
} from "./frame.tsx";
import { LABEL_ROW, rowsOf, textWidth } from "./labels.ts";
import { PhaseLabels, type PhaseSpan, placePhases } from "./phase-labels.tsx";
import { type ValueColumn, type Values, ValuesTable } from "./values-table.tsx";

export interface TimeLine {
  readonly name: string;
  /** By default the style of its place in the panel. */
  readonly style?: Style;
  /** `null`: no value, a gap in the line. */
  readonly points: readonly { readonly atS: number; readonly value: number | null }[];
}

/** One of several stacked drawings that share a time axis. */
export interface TimePanel {
  /** Includes the unit. */
  readonly title: string;
  /** What the table writes before the names of its lines; a single line has only this. By default the title. */
  readonly prefix?: string;
  readonly scale: "linear" | "log";
  /** Height of the drawing itself, drawing units. */
  readonly height: number;
  readonly lines: readonly TimeLine[];
  readonly limit?: { readonly value: number; readonly name: string } | undefined;
}

/** Gap between two panels, which holds the title of the lower one. */
const BETWEEN = 26;

interface TimePanelsProps {
  readonly label: string;
  readonly panels: readonly TimePanel[];
  readonly phases: readonly PhaseSpan[];
  /** The table of the values, where all lines have the same points; with a script, the drawing then has a cursor. */
  readonly values?: Values;
}

/** Lines over time, one panel above the other, with the phases of the run named above. */
export function TimePanels({ label, panels: given, phases, values }: TimePanelsProps) {
  const panels = given.filter((panel) => valuesOf(panel).length > 0);
  if (panels.length === 0) return null;
  const lastS = Math.max(...panels.flatMap(({ lines }) => lines.flatMap(({ points }) => points.map(({ atS }) => atS))));
  const phasesEndS = Math.max(0, ...phases.map(({ startS, durationS }) => startS + durationS));
  // The seconds that the last point covers may only partly belong to the run.
  const coveredS = values && lastS + values.everyS;
  const linesEndS = coveredS && lastS < phasesEndS ? Math.min(coveredS, phasesEndS) : coveredS;
  const end = Math.max(1, phasesEndS, linesEndS ?? lastS);
  const x = scaleLinear([0, end], [BOX.left, BOX.width - BOX.right]);
  const labels = placePhases(phases, x, BOX.width - BOX.right);
  let top = rowsOf(labels) * LABEL_ROW + 20;
  const boxes = panels.map(({ height }): Box => {
    const box = { ...BOX, top, bottom: 0, height: top + height };
    top += height + BETWEEN;
    return box;
  });
  const height = top - BETWEEN + BOX.bottom;
  const whole = { ...BOX, top: boxes[0]?.top ?? 0, height };
  const named = new Map(
    panels.flatMap(({ lines }) => lines.map(({ name, style }, index) => [name, style ?? styleOf(index)] as const)),
  );
  return (
    <>
      {named.size < 2 ? null : <Legend entries={[...named].map(([name, style]) => ({ name, style }))} />}
      <Sheet box={whole} label={label}>
        <AxisBelow box={whole} scale={x} ticks={linearTicks(x, 8)} title="seconds from the start" />
        <PhaseLabels labels={labels} bottom={height - BOX.bottom} />
        {panels.map((panel, index) => (
          <Panel key={panel.title} panel={panel} box={boxes[index] ?? whole} x={x} linesEndS={linesEndS} />
        ))}
        {values === undefined ? null : (
          <Cursor box={whole} end={end} middleS={isStepped(panels) ? values.everyS / 2 : 0} />
        )}
      </Sheet>
      {values === undefined ? null : <ValuesTable columns={panels.flatMap(columnsOf)} values={values} />}
    </>
  );
}

function valuesOf({ lines, scale }: TimePanel): number[] {
  return lines.flatMap(({ points }) =>
    points.flatMap(({ value }) => (value === null || (scale === "log" && value <= 0) ? [] : [value])),
  );
}

/** A column for each line. */
function columnsOf({ title, prefix = title, scale, lines }: TimePanel): ValueColumn[] {
  // Only latencies have a logarithmic scale.
  const unit = scale === "log" ? "ms" : "";
  return lines.map(({ name, points }) => ({ panel: prefix, line: lines.length > 1 ? name : "", unit, points }));
}

const isStepped = (panels: readonly TimePanel[]) => panels.every(({ scale }) => scale === "linear");

interface CursorProps {
  readonly box: Box;
  /** Of the time axis, seconds. */
  readonly end: number;
  /** From the time of a point to where the cursor marks it: the middle of a step. */
  readonly middleS: number;
}

/** Where the script marks the point that is read. */
function Cursor({ box, end, middleS }: CursorProps) {
  const [top, base] = [n(box.top), n(box.height - box.bottom)];
  const axis = {
    "data-left": box.left,
    "data-right": box.width - box.right,
    "data-end-s": end,
    "data-middle-s": middleS,
  };
  return <line class="cursor" x1={0} x2={0} y1={top} y2={base} hidden {...axis} />;
}

interface PanelProps {
  readonly panel: TimePanel;
  readonly box: Box;
  readonly x: Scale;
  /** How far a step of the last point is drawn; `undefined` if the points are samples, which cover no time. */
  readonly linesEndS: number | undefined;
}

function Panel({ panel, box, x, linesEndS }: PanelProps) {
  const { title, scale, lines, limit, height } = panel;
  const values = valuesOf(panel);
  const range = [box.height, box.top];
  const y: Scale =
    scale === "log"
      ? scaleLog(logDomain(values), range)
      : scaleLinear([0, Math.max(1, limit?.value ?? 0, ...values) * 1.05], range);
  const path = line<{ atS: number; value: number | null }>(
    (point) => n(x(point.atS)),
    (point) => n(y(point.value ?? 1)),
  )
    .defined(({ value }) => value !== null && (scale === "linear" || value > 0))
    .curve(scale === "log" ? curveLinear : curveStepAfter);
  return (
    <g>
      <AxisLeft
        box={box}
        scale={y}
        ticks={scale === "log" ? logTicks(y) : linearTicks(y, Math.max(2, Math.floor(height / 30)))}
        title={scale === "log" ? `${title} (log scale)` : title}
        lift={2}
      />
      <line class="axis-line" x1={box.left} x2={box.width - box.right} y1={box.height} y2={box.height} />
      {lines.map(({ name, points, style: given }, index) => {
        const style = given ?? styleOf(index);
        return (
          <g key={name}>
            <path
              class={`line-${style.stroke}`}
              d={path(scale === "log" ? [...points] : withLastStepExtended(points, linesEndS)) ?? ""}
              stroke-dasharray={style.dash}
            />
            {scale === "linear" ? null : (
              <path class={`line-${style.stroke} dots`} d={path(lonely(points).flatMap(apart)) ?? ""} />
            )}
          </g>
        );
      })}
      {limit === undefined ? null : <Limit limit={limit} title={title} box={box} at={y(limit.value)} />}
    </g>
  );
}

/** From just below the values to just above them, and at least a factor of 2, so that small variations look small. */
function logDomain(values: readonly number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = Math.max(1.1, Math.sqrt((2 * low) / high));
  return [low / room, high * room];
}

type Points = TimeLine["points"];

/** Without a point at its end, the step of the last point has no width. */
function withLastStepExtended(points: Points, untilS: number | undefined): Points[number][] {
  const last = points.at(-1);
  if (last === undefined || untilS === undefined || last.atS >= untilS) return [...points];
  return [...points, { ...last, atS: untilS }];
}

/** Points without a neighbour: a line of a single point would be invisible. */
function lonely(points: Points): Points {
  return points.filter(
    ({ value }, index) =>
      value !== null && (points[index - 1]?.value ?? null) === null && (points[index + 1]?.value ?? null) === null,
  );
}

const apart = (point: Points[number]): Points[number][] => [point, { atS: point.atS, value: null }];

interface LimitProps {
  readonly limit: { readonly name: string };
  readonly title: string;
  readonly box: Box;
  readonly at: number;
}

/** Length of the dash before the name of a limit, and the gap on either side of it. */
const KEY = { width: 22, gap: 7 };

/** A limit across a panel. Its name is next to the title of the panel, where no line of the panel can be. */
function Limit({ limit, title, box, at }: LimitProps) {
  const left = box.left + textWidth(title) + 2 * KEY.gap;
  const y = box.top - 5;
  return (
    <g>
      <line class="limit" x1={box.left} x2={box.width - box.right} y1={n(at)} y2={n(at)} />
      <line class="limit" x1={n(left)} x2={n(left + KEY.width)} y1={y - 4} y2={y - 4} />
      <text class="over" x={n(left + KEY.width + KEY.gap)} y={y}>
        {limit.name}
      </text>
    </g>
  );
}
