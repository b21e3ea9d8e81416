import { scaleLinear } from "d3-scale";
import type { RetryAfterFigures, RetryOutcome } from "../../../src/record/index.ts";
import { oneLine } from "../../clean-text.ts";
import { AxisBelow, AxisLeft, BOX, Legend, linearTicks, Mark, n, Sheet, styleOf } from "./frame.tsx";

const ORDER: readonly RetryOutcome[] = ["sufficient", "contended", "untested", "insufficient"];
const NAMES: Readonly<Record<RetryOutcome, string>> = {
  sufficient: "sufficient: admitted after the wait",
  contended: "contended: other requests took the free capacity",
  untested: "not tested",
  insufficient: "insufficient: denied again",
};

/** Retry-After against the actual wait, with the line on which both are equal. */
export function WaitScatter({ samples }: { readonly samples: RetryAfterFigures["samples"] }) {
  const points = samples.flatMap(({ retryAfterWaitMs, actualMs, outcome, reason }) =>
    retryAfterWaitMs === null || actualMs === null
      ? []
      : [{ askedS: retryAfterWaitMs / 1_000, actualS: actualMs / 1_000, outcome, reason }],
  );
  if (points.length === 0) return null;
  const most = Math.max(1, ...points.flatMap(({ askedS, actualS }) => [askedS, actualS])) * 1.05;
  const box = { ...BOX, height: 320 };
  const x = scaleLinear([0, most], [box.left, box.width - box.right]);
  const y = scaleLinear([0, most], [box.height - box.bottom, box.top]);
  const present = ORDER.filter((outcome) => points.some((point) => point.outcome === outcome));
  return (
    <>
      <Legend entries={present.map((outcome) => ({ name: NAMES[outcome], style: styleOf(ORDER.indexOf(outcome)) }))} />
      <Sheet
        box={box}
        label="Retry-After against the time until a request was admitted. On the line both are equal; the table below sums them up."
      >
        <AxisLeft box={box} scale={y} ticks={linearTicks(y, 6)} title="waited until admitted, s" />
        <AxisBelow box={box} scale={x} ticks={linearTicks(x, 8)} title="Retry-After, s" />
        <line class="limit" x1={n(x(0))} x2={n(x(most))} y1={n(y(0))} y2={n(y(most))} />
        {points.map(({ askedS, actualS, outcome, reason }, index) => (
          <Mark
            key={index}
            style={styleOf(ORDER.indexOf(outcome))}
            x={x(askedS)}
            y={y(actualS)}
            title={`${oneLine(reason, 60)}: Retry-After ${askedS} s, waited ${Number(actualS.toPrecision(4))} s`}
          />
        ))}
      </Sheet>
    </>
  );
}
