import { scaleLinear, scaleLog } from "d3-scale";
import { line } from "d3-shape";
import type { Overhead } from "../../../src/record/index.ts";
import { oneLine } from "../../clean-text.ts";
import { decimal } from "../format.ts";
import { AxisBelow, AxisLeft, BOX, Legend, logTicks, Mark, n, Sheet, styleOf } from "./frame.tsx";

/** Smaller values are indistinguishable from zero, which a logarithmic scale cannot show. */
const MIN_MS = 0.03;

/** Added p99 latency against admitted requests per second, one line per gateway. */
export function FrontierPlot({ arms }: { readonly arms: Overhead["arms"] }) {
  const lines = arms.flatMap(({ name, frontier }) => {
    const points = (frontier?.points ?? []).flatMap(({ servedPerS, addedMs }) =>
      addedMs.p99.value === null ? [] : [{ perS: servedPerS, ms: Math.max(MIN_MS, addedMs.p99.value) }],
    );
    return points.length < 2 ? [] : [{ name: oneLine(name, 40), points }];
  });
  const all = lines.flatMap(({ points }) => points);
  if (all.length === 0) return null;
  const x = scaleLinear([0, Math.max(...all.map(({ perS }) => perS)) * 1.05], [BOX.left, BOX.width - BOX.right]);
  const y = scaleLog([MIN_MS * 0.9, Math.max(1, ...all.map(({ ms }) => ms)) * 1.2], [BOX.height - BOX.bottom, BOX.top]);
  const path = line<{ perS: number; ms: number }>(
    ({ perS }) => n(x(perS)),
    ({ ms }) => n(y(ms)),
  );
  return (
    <figure>
      <figcaption>
        <strong>Added latency against load</strong>
        <span class="note">
          What the slowest percent of small non-streaming requests takes longer through the gateway, at rising rates.
          Lower is better, and further to the right.
        </span>
      </figcaption>
      <Legend entries={lines.map(({ name }, index) => ({ name, style: styleOf(index) }))} />
      <Sheet label="Added milliseconds at p99 against requests per second, a line per gateway. The table below has the numbers.">
        <AxisLeft scale={y} ticks={logTicks(y)} title="ms added at p99" />
        <AxisBelow
          scale={x}
          ticks={x.ticks(6).map((at) => ({ at, text: decimal(at) }))}
          title="requests per second that were served"
        />
        {lines.map(({ name, points }, index) => {
          const style = styleOf(index);
          return (
            <g key={name}>
              <path class={`line-${style.stroke}`} d={path(points) ?? ""} stroke-dasharray={style.dash} />
              {points.map(({ perS, ms }) => (
                <Mark
                  key={perS}
                  style={style}
                  x={x(perS)}
                  y={y(ms)}
                  title={`${name}, ${decimal(perS)}/s: ${Number(ms.toPrecision(3))} ms`}
                />
              ))}
            </g>
          );
        })}
      </Sheet>
    </figure>
  );
}
