import { scaleLinear, scaleLog } from "d3-scale";
import { line } from "d3-shape";
import { AxisBelow, AxisLeft, HALF, Legend, logTicks, Mark, n, Sheet, styleOf } from "./frame.tsx";

export interface PercentileCurve {
  readonly name: string;
  /** Quantile between 0 and 1, and milliseconds. */
  readonly points: readonly { readonly quantile: number; readonly ms: number }[];
  /** Beyond this quantile the sample is too small: drawn thinner. */
  readonly trusted: number;
}

const TICKS = [0, 0.5, 0.9, 0.99, 0.999, 0.9999];

/** Latency by quantile: each further nine has the same width, milliseconds on a logarithmic scale. */
export function PercentilePlot({
  label,
  curves: given,
}: {
  readonly label: string;
  readonly curves: readonly PercentileCurve[];
}) {
  // A logarithmic scale cannot show zero.
  const curves = given
    .map((curve) => ({ ...curve, points: curve.points.filter(({ ms }) => ms > 0) }))
    .filter(({ points }) => points.length > 1);
  const values = curves.flatMap(({ points }) => points.map(({ ms }) => ms)).filter((ms) => ms > 0);
  if (values.length === 0) return null;
  const nines = (quantile: number) => -Math.log10(Math.max(1 - quantile, 1e-4));
  const x = scaleLinear([0, 4], [HALF.left, HALF.width - HALF.right]);
  const y = scaleLog([Math.min(...values) * 0.9, Math.max(...values) * 1.1], [HALF.height - HALF.bottom, HALF.top]);
  const path = line<{ quantile: number; ms: number }>(
    (point) => n(x(nines(point.quantile))),
    (point) => n(y(Math.max(point.ms, 1e-3))),
  );
  return (
    <>
      <Legend entries={curves.map(({ name }, index) => ({ name, style: styleOf(index) }))} />
      <Sheet box={HALF} label={label} fits>
        <AxisLeft box={HALF} scale={y} ticks={logTicks(y)} title="ms" lift={2} />
        <AxisBelow
          box={HALF}
          scale={x}
          ticks={TICKS.map((quantile) => ({
            at: nines(quantile),
            text: quantile === 0 ? "0" : String(Number((quantile * 100).toFixed(2))),
          }))}
          title="% of requests that were at least this fast"
        />
        {curves.map(({ name, points, trusted }, index) => {
          const style = styleOf(index);
          const known = points.filter(({ quantile }) => quantile <= trusted);
          const beyond = points.filter(({ quantile }) => quantile >= trusted);
          const marked = [0.5, 0.95, 0.99, 0.999].flatMap((quantile) => {
            const at = points.find((point) => point.quantile >= quantile - 1e-9);
            return at === undefined || quantile > trusted ? [] : [{ at: at.quantile, quantile, ms: at.ms }];
          });
          return (
            <g key={name}>
              <path class={`line-${style.stroke}`} d={path(known) ?? ""} stroke-dasharray={style.dash} />
              <path class={`line-${style.stroke} thin`} d={path(beyond) ?? ""} stroke-dasharray="1 4" />
              {marked.map(({ at, quantile, ms }) => (
                <Mark
                  key={quantile}
                  style={style}
                  x={x(nines(at))}
                  y={y(ms)}
                  title={`${name}, ${quantile * 100} %: ${Number(ms.toPrecision(4))} ms`}
                />
              ))}
            </g>
          );
        })}
      </Sheet>
    </>
  );
}
