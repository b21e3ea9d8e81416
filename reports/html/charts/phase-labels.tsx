import { n, type Scale } from "./frame.tsx";
import { LABEL_ROW, type PlacedLabel, placeLabels } from "./labels.ts";

/** A phase of a run, seconds from its start; the name is the same as in the tables. */
export interface PhaseSpan {
  readonly name: string;
  readonly startS: number;
  readonly durationS: number;
}

/** Places the names of phases above a drawing. */
export function placePhases(phases: readonly PhaseSpan[], x: Scale, right: number): PlacedLabel[] {
  return placeLabels(
    [...phases].sort((a, b) => a.startS - b.startS).map(({ name, startS }) => ({ text: name, at: x(startS) })),
    right,
  );
}

/** The names of phases, each with a vertical line where the phase begins. */
export function PhaseLabels({ labels, bottom }: { readonly labels: readonly PlacedLabel[]; readonly bottom: number }) {
  return (
    <g>
      {labels.map(({ text, at, row }) => (
        <line key={`${text} ${at}`} class="phase" x1={n(at)} x2={n(at)} y1={row * LABEL_ROW + 2} y2={bottom} />
      ))}
      {labels.map(({ text, at, left, row }) => (
        <text key={`${text} ${at}`} class="over" x={n(left)} y={row * LABEL_ROW + 11}>
          {text}
        </text>
      ))}
    </g>
  );
}
