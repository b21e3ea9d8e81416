import { scaleLinear, scaleLog } from "d3-scale";
import type { Quantiles } from "../../../src/record/index.ts";
import { AxisBelow, AxisLeft, HALF, linearTicks, logTicksAcross, n, Sheet } from "./frame.tsx";
import { LABEL_ROW, placeLabels, rowsOf } from "./labels.ts";

export interface Bar {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

const MARKED = ["p50", "p95", "p99"] as const;

interface HistogramBarsProps {
  readonly label: string;
  /** Adjacent bars, shortest first; the first begins above zero. */
  readonly bars: readonly Bar[];
  readonly quantiles: Quantiles;
}

/** Distribution of durations on a logarithmic scale, with the quantiles of the table marked. */
export function HistogramBars({ label, bars, quantiles }: HistogramBarsProps) {
  const [first, last] = [bars[0], bars.at(-1)];
  if (first === undefined || last === undefined) return null;
  const x = scaleLog([first.fromMs, last.toMs], [HALF.left, HALF.width - HALF.right]).clamp(true);
  const labels = placeLabels(
    MARKED.map((name) => ({ text: `${name} ${Number(quantiles[name].toPrecision(3))} ms`, at: x(quantiles[name]) })),
    HALF.width - HALF.right,
  );
  const box = { ...HALF, top: rowsOf(labels) * LABEL_ROW + 20, height: HALF.height + rowsOf(labels) * LABEL_ROW };
  const base = box.height - box.bottom;
  const total = bars.reduce((sum, { count }) => sum + count, 0);
  const share = ({ count }: Bar) => (count / Math.max(total, 1)) * 100;
  const y = scaleLinear([0, Math.max(1, ...bars.map(share)) * 1.05], [base, box.top]);
  return (
    <Sheet box={box} label={label} fits>
      <AxisLeft box={box} scale={y} ticks={linearTicks(y, 4)} title="% of requests" lift={2} />
      <AxisBelow box={box} scale={x} ticks={logTicksAcross(x)} title="ms" />
      {bars
        .filter(({ count }) => count > 0)
        .map((bar) => (
          <rect
            key={bar.fromMs}
            class="bar"
            x={n(x(bar.fromMs))}
            width={n(Math.max(1, x(bar.toMs) - x(bar.fromMs) - 0.8))}
            y={n(y(share(bar)))}
            height={n(base - y(share(bar)))}
          />
        ))}
      {labels.map(({ text, at, row }) => (
        <line key={text} class="limit" x1={n(at)} x2={n(at)} y1={row * LABEL_ROW + 2} y2={base} />
      ))}
      {labels.map(({ text, left, row }) => (
        <text key={text} class="strong over" x={n(left)} y={row * LABEL_ROW + 11}>
          {text}
        </text>
      ))}
    </Sheet>
  );
}
