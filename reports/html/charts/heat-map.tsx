import { scaleLinear, scaleLog } from "d3-scale";
import { decimal } from "../format.ts";
import { AxisBelow, AxisLeft, BOX, linearTicks, logTicks, n, Sheet } from "./frame.tsx";
import { LABEL_ROW, rowsOf } from "./labels.ts";
import { PhaseLabels, type PhaseSpan, placePhases } from "./phase-labels.tsx";

/** Tones of the style sheet, lightest first. */
const TONES = 5;

export interface HeatMapCell {
  readonly fromS: number;
  readonly toS: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

interface HeatMapProps {
  readonly label: string;
  /** Sorted by duration, then time. */
  readonly cells: readonly HeatMapCell[];
  readonly phases: readonly PhaseSpan[];
}

/** How often each duration occurred over time: a stronger colour is more often; durations on a logarithmic scale. */
export function HeatMap({ label, cells, phases }: HeatMapProps) {
  const end = Math.max(1, ...cells.map(({ toS }) => toS), ...phases.map((phase) => phase.startS + phase.durationS));
  const bottom = Math.min(...cells.map(({ fromMs }) => fromMs));
  const top = Math.max(...cells.map(({ toMs }) => toMs));
  const x = scaleLinear([0, end], [BOX.left, BOX.width - BOX.right]);
  const labels = placePhases(phases, x, BOX.width - BOX.right);
  const above = rowsOf(labels) * LABEL_ROW + 20;
  const box = { ...BOX, height: above + 242, top: above };
  const y = scaleLog([bottom, top], [box.height - box.bottom, box.top]);
  const bounds = boundsOf(Math.max(...cells.map(({ count }) => count)));
  const tones = bounds.map((_, index) => TONES - bounds.length + index + 1);
  const paths = pathsOf(cells, bounds, x, y);
  return (
    <>
      <ul class="legend">
        {bounds.map((least, index) => (
          <li key={least}>
            <svg viewBox="0 0 20 14" aria-hidden="true">
              <rect class={`heat-${tones[index]}`} x="0" y="0" width="20" height="14" />
            </svg>
            {rangeOf(bounds, index)}
          </li>
        ))}
        <li>requests in a cell</li>
      </ul>
      <Sheet box={box} label={label}>
        <AxisLeft box={box} scale={y} ticks={logTicks(y)} title="ms" lift={2} />
        <AxisBelow box={box} scale={x} ticks={linearTicks(x, 8)} title="seconds from the start" />
        {paths.map((path, index) => (
          <path key={tones[index]} class={`heat-${tones[index]}`} d={path} shape-rendering="crispEdges" />
        ))}
        <PhaseLabels labels={labels} bottom={box.height - box.bottom} />
      </Sheet>
    </>
  );
}

/** Lower bounds of the tones, evenly spaced on a logarithmic scale, so that single slow requests stay visible among thousands. */
function boundsOf(most: number): number[] {
  const steps = Array.from({ length: TONES }, (_, index) => Math.round(most ** (index / TONES)));
  return [...new Set(steps)];
}

function rangeOf(bounds: readonly number[], index: number): string {
  const from = bounds[index] ?? 1;
  const next = bounds[index + 1];
  if (next === undefined) return `${decimal(from)} or more`;
  return next - 1 === from ? decimal(from) : `${decimal(from)} to ${decimal(next - 1)}`;
}

/** One path per tone; cells that are adjacent in time become one rectangle. */
function pathsOf(
  cells: readonly HeatMapCell[],
  bounds: readonly number[],
  x: (seconds: number) => number,
  y: (ms: number) => number,
): string[] {
  const paths = bounds.map(() => "");
  const toneOf = ({ count }: HeatMapCell) => bounds.findLastIndex((least) => count >= least);
  for (let index = 0; index < cells.length; index++) {
    const first = cells[index] as HeatMapCell;
    const tone = toneOf(first);
    let last = first;
    for (let next = cells[index + 1]; next !== undefined; next = cells[index + 1]) {
      if (next.fromMs !== first.fromMs || next.fromS !== last.toS || toneOf(next) !== tone) break;
      last = next;
      index++;
    }
    const [left, right] = [n(x(first.fromS)), n(x(last.toS))];
    const [high, low] = [n(y(first.toMs)), n(y(first.fromMs))];
    paths[tone] += `M${left} ${high}H${right}V${low}H${left}z`;
  }
  return paths;
}
