import { scaleLinear } from "d3-scale";
import type { RetryAfterFigures, RetryOutcome } from "../../../src/record/index.ts";
import { oneLine } from "../../clean-text.ts";
import { AxisBelow, AxisLeft, Legend, linearTicks, Mark, n, Sheet, styleOf } from "./frame.tsx";

const ORDER: readonly RetryOutcome[] = ["sufficient", "contended", "untested", "insufficient"];
const NAMES: Readonly<Record<RetryOutcome, string>> = {
  sufficient: "sufficient: admitted after the wait",
  contended: "contended: other requests took the free capacity",
  untested: "not tested",
  insufficient: "insufficient: denied again",
};

type Sample = RetryAfterFigures["samples"][number];

export interface WaitPanel {
  /** Name of the run. */
  readonly name: string;
  readonly samples: readonly Sample[];
}

const PANEL = { width: 300, height: 220, left: 44, right: 12, top: 20, bottom: 38 };

/** A requested wait that was completed. */
interface Wait {
  readonly retryAfterS: number;
  readonly actualS: number;
  readonly outcome: RetryOutcome;
  readonly reason: string;
}

/** The waits of a run that can be drawn. */
export function waitsOf(samples: readonly Sample[]): Wait[] {
  return samples.flatMap(({ retryAfterWaitMs, actualMs, outcome, reason }) =>
    retryAfterWaitMs === null || actualMs === null
      ? []
      : [{ retryAfterS: retryAfterWaitMs / 1_000, actualS: actualMs / 1_000, outcome, reason }],
  );
}

/** Retry-After against the actual wait, a panel for each run, all on one scale, with the line on which the two are equal. */
export function WaitPanels({ panels }: { readonly panels: readonly WaitPanel[] }) {
  const drawn = panels
    .map(({ name, samples }) => ({ name, waits: waitsOf(samples) }))
    .filter(({ waits }) => waits.length > 0);
  const all = drawn.flatMap(({ waits }) => waits);
  const most = Math.max(1, ...all.flatMap(({ retryAfterS, actualS }) => [retryAfterS, actualS])) * 1.05;
  const present = ORDER.filter((outcome) => all.some((wait) => wait.outcome === outcome));
  return (
    <>
      <Legend entries={present.map((outcome) => ({ name: NAMES[outcome], style: styleOf(ORDER.indexOf(outcome)) }))} />
      <div class="panels">
        {drawn.map(({ name, waits }) => (
          <Waits key={name} name={name} waits={waits} most={most} />
        ))}
      </div>
    </>
  );
}

interface WaitsProps {
  readonly name: string;
  readonly waits: readonly Wait[];
  readonly most: number;
}

function Waits({ name, waits, most }: WaitsProps) {
  const x = scaleLinear([0, most], [PANEL.left, PANEL.width - PANEL.right]);
  const y = scaleLinear([0, most], [PANEL.height - PANEL.bottom, PANEL.top]);
  return (
    <Sheet
      box={PANEL}
      fits
      label={`${oneLine(name, 40)}: Retry-After against the time until a request was admitted. On the line both are equal; the table sums them up.`}
    >
      <AxisLeft box={PANEL} scale={y} ticks={linearTicks(y, 4)} title={`${oneLine(name, 24)}: waited, s`} lift={4} />
      <AxisBelow box={PANEL} scale={x} ticks={linearTicks(x, 5)} title="Retry-After, s" />
      <line class="limit" x1={n(x(0))} x2={n(x(most))} y1={n(y(0))} y2={n(y(most))} />
      {waits.map(({ retryAfterS, actualS, outcome, reason }, index) => (
        <Mark
          key={index}
          style={styleOf(ORDER.indexOf(outcome))}
          x={x(retryAfterS)}
          y={y(actualS)}
          title={`${oneLine(reason, 60)}: Retry-After ${retryAfterS} s, waited ${Number(actualS.toPrecision(4))} s`}
        />
      ))}
    </Sheet>
  );
}
