import { type Box, n, type Scale } from "./frame.tsx";

/** A phase of a run, seconds from its start. */
export interface PhaseSpan {
  readonly name: string;
  readonly startS: number;
  readonly durationS: number;
}

/** Narrower phases have no room for their name. */
const LEAST_WIDTH = 60;

/** Where phases begin, and their names above where there is room. */
export function PhaseMarks({
  box,
  x,
  phases,
}: {
  readonly box: Box;
  readonly x: Scale;
  readonly phases: readonly PhaseSpan[];
}) {
  return (
    <>
      {phases.map(({ name, startS, durationS }) => (
        <g key={`${name} ${startS}`}>
          <line class="phase" x1={n(x(startS))} x2={n(x(startS))} y1={box.top} y2={box.height - box.bottom} />
          {x(startS + durationS) - x(startS) < LEAST_WIDTH ? null : (
            <text x={n((x(startS) + x(startS + durationS)) / 2)} y={box.top - 4} text-anchor="middle">
              {name}
            </text>
          )}
        </g>
      ))}
    </>
  );
}
