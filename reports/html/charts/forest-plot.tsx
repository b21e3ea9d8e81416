import { scaleLinear } from "d3-scale";
import { LATENCY_MARGINS } from "../../../src/compare/index.ts";
import type { ComparedMetric } from "../../../src/record/index.ts";
import { oneLine } from "../../clean-text.ts";
import { describeFigure } from "../../text/index.ts";
import { Mark, n, Sheet, styleOf } from "./frame.tsx";

const ROW = 30;
const LEFT = 300;
/** Room for half of the last label of the axis. */
const RIGHT = 30;
const WIDTH = 860;

const TONE = { regressed: "bad", inconclusive: "held", improved: "good", "not worse": "good" } as const;

/** The confidence interval of each figure against the margin within which a change does not matter. */
export function ForestPlot({
  metrics,
  control,
  isUsable,
  names: [a, b],
}: {
  readonly metrics: readonly ComparedMetric[];
  readonly control: readonly ComparedMetric[];
  /** Whether the intervals decide anything; otherwise they have no colour. */
  readonly isUsable: boolean;
  /** Of the two sides. */
  readonly names: readonly [string, string];
}) {
  const rows = metrics.filter(({ low, high }) => low !== null && high !== null);
  const narrowestMargin = Math.min(...rows.map(({ margin }) => margin));
  const intervals = rows.flatMap(({ low, high }) => [Math.abs(low ?? 0), Math.abs(high ?? 0)]);
  // A figure of about 1 ms has a wide relative margin; scaling to it would make all other intervals invisible.
  const widest = Math.max(0.05, narrowestMargin, ...intervals);
  const limit = Math.min(widest * 1.3, 1.5);
  const x = scaleLinear([-limit, limit], [LEFT, WIDTH - RIGHT]).clamp(true);
  const height = rows.length * ROW + 46;
  const box = { width: WIDTH, height, left: LEFT, right: RIGHT, top: 8, bottom: 38 };
  const byName = new Map(control.map((metric) => [metric.name, metric]));
  return (
    <figure>
      <figcaption>
        <strong>
          Change from {a} to {b}
        </strong>
        <span class="note">
          {`The band is the margin within which a change does not matter (${LATENCY_MARGINS}). Solid line: 90 % interval of ${b} compared with ${a}. Dashed: ${a} compared with itself. To the right, ${b} is higher.`}
        </span>
      </figcaption>
      <Sheet
        box={box}
        label="Relative change of each figure with its 90 % interval, against the practical margin. The table below has the numbers."
      >
        {x.ticks(7).map((at) => (
          <g key={at}>
            <line
              class={at === 0 ? "axis-line" : "grid"}
              x1={n(x(at))}
              x2={n(x(at))}
              y1={box.top}
              y2={height - box.bottom}
            />
            <text x={n(x(at))} y={height - box.bottom + 15} text-anchor="middle">
              {`${at > 0 ? "+" : at < 0 ? "−" : ""}${Math.round(Math.abs(at) * 1_000) / 10} %`}
            </text>
          </g>
        ))}
        {rows.map((metric, index) => {
          const y = box.top + index * ROW + ROW / 2;
          const itself = byName.get(metric.name);
          const tone = isUsable ? TONE[metric.verdict] : "quiet";
          return (
            <g key={metric.name}>
              <rect
                class="band"
                x={n(x(-metric.margin))}
                y={y - 10}
                width={n(x(metric.margin) - x(-metric.margin))}
                height={20}
              />
              <text class="strong" x={LEFT - 10} y={y + 4} text-anchor="end">
                {oneLine(describeFigure(metric.name), 48)}
              </text>
              {itself === undefined || itself.low === null || itself.high === null ? null : (
                <line
                  class="line-quiet"
                  x1={n(x(itself.low))}
                  x2={n(x(itself.high))}
                  y1={y + 7}
                  y2={y + 7}
                  stroke-dasharray="3 3"
                />
              )}
              <line class={`line-${tone}`} x1={n(x(metric.low ?? 0))} x2={n(x(metric.high ?? 0))} y1={y} y2={y} />
              <Mark style={styleOf(0)} x={x(metric.change ?? 0)} y={y} />
            </g>
          );
        })}
      </Sheet>
    </figure>
  );
}
