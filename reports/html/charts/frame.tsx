import { type ScaleContinuousNumeric, scaleLinear } from "d3-scale";
import type { ComponentChildren } from "preact";
import { textWidth } from "./labels.ts";

/** The plot area of a drawing on its sheet, in drawing units. */
export interface Box {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export const BOX: Box = { width: 860, height: 250, left: 58, right: 18, top: 12, bottom: 38 };

/** A drawing of half the page width. */
export const HALF: Box = { width: 430, height: 208, left: 48, right: 14, top: 20, bottom: 38 };

export type Scale = ScaleContinuousNumeric<number, number>;

interface SheetProps {
  readonly box?: Box;
  readonly label: string;
  /** Narrow enough for any page: it shrinks instead of scrolling. */
  readonly fits?: boolean;
  readonly children: ComponentChildren;
}

/** The SVG of a drawing: labelled and described for screen readers, and no wider than the page. */
export function Sheet({ box = BOX, label, fits = false, children }: SheetProps) {
  const drawing = (
    <svg viewBox={`0 0 ${box.width} ${n(box.height)}`} role="img" aria-label={label}>
      {children}
    </svg>
  );
  if (fits) return drawing;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable without a mouse
    // biome-ignore lint/a11y/useSemanticElements: a fieldset groups inputs, and this groups none
    <div class="scroll" tabIndex={0} role="group" aria-label="Chart; scrolls where the page is narrow">
      {drawing}
    </div>
  );
}

export interface Tick {
  readonly at: number;
  readonly text: string;
}

interface AxisBelowProps {
  readonly box?: Box;
  readonly scale: Scale;
  readonly ticks: readonly Tick[];
  readonly title: string;
}

/** Ticks on the x axis, with thin grid lines. */
export function AxisBelow({ box = BOX, scale, ticks, title }: AxisBelowProps) {
  const base = box.height - box.bottom;
  return (
    <g>
      {ticks.map(({ at, text }) => (
        <g key={text}>
          <line class="grid" x1={n(scale(at))} x2={n(scale(at))} y1={box.top} y2={base} />
          <text x={n(scale(at))} y={base + 16} text-anchor="middle">
            {text}
          </text>
        </g>
      ))}
      <line class="axis-line" x1={box.left} x2={box.width - box.right} y1={base} y2={base} />
      <text x={(box.left + box.width - box.right) / 2} y={box.height - 4} text-anchor="middle">
        {title}
      </text>
    </g>
  );
}

interface AxisLeftProps {
  readonly box?: Box;
  readonly scale: Scale;
  readonly ticks: readonly Tick[];
  readonly title: string;
  /** How far above the drawing the title is placed, if something is between them. */
  readonly lift?: number;
}

export function AxisLeft({ box = BOX, scale, ticks, title, lift = 0 }: AxisLeftProps) {
  return (
    <g>
      {ticks.map(({ at, text }) => (
        <g key={text}>
          <line class="grid" x1={box.left} x2={box.width - box.right} y1={n(scale(at))} y2={n(scale(at))} />
          <text x={box.left - 7} y={n(scale(at)) + 4} text-anchor="end">
            {text}
          </text>
        </g>
      ))}
      <text class="strong over" x={box.left} y={box.top - 3 - lift} text-anchor="start">
        {title}
      </text>
    </g>
  );
}

/** A tenth of a unit is finer than any screen or printer, and keeps the file small and identical on all platforms. */
export function n(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Plain decimal ticks, at most about `count`. */
export function linearTicks(scale: Scale, count: number): Tick[] {
  return scale.ticks(count).map((at) => ({ at, text: short(at) }));
}

/** Ticks of a logarithmic axis, from the finest to the coarsest: steps within a decade, or one tick every few decades. */
const LOG_STEPS = [
  { steps: [1, 2, 5], every: 1 },
  { steps: [1, 3], every: 1 },
  { steps: [1], every: 1 },
  { steps: [1], every: 2 },
  { steps: [1], every: 4 },
] as const;

/** Ticks of a vertical logarithmic axis: as many as fit, or linear ticks if fewer than three logarithmic ticks fit. */
export function logTicks(scale: Scale): Tick[] {
  const room = () => 15;
  const ticks = finestLogTicks(scale, room);
  if (ticks.length >= 3) return ticks;
  const even = scaleLinear().domain(scale.domain());
  return [6, 5, 4, 3].map((count) => linearTicks(even, count)).find((few) => isRoomy(scale, few, room)) ?? ticks;
}

/** Ticks of a horizontal logarithmic axis: as many as fit. */
export function logTicksAcross(scale: Scale): Tick[] {
  return finestLogTicks(scale, (a, b) => (textWidth(a) + textWidth(b)) / 2 + 6);
}

/** The distance that two neighbouring texts need, drawing units. */
type RoomFor = (a: string, b: string) => number;

function finestLogTicks(scale: Scale, roomFor: RoomFor): Tick[] {
  const candidates = LOG_STEPS.map((steps) => logTicksAt(scale, steps));
  return candidates.find((ticks) => isRoomy(scale, ticks, roomFor)) ?? candidates.at(-1)?.slice(0, 1) ?? [];
}

function isRoomy(scale: Scale, ticks: readonly Tick[], roomFor: RoomFor): boolean {
  return ticks.every(({ at, text }, index) => {
    const next = ticks[index + 1];
    return next === undefined || Math.abs(scale(next.at) - scale(at)) >= roomFor(text, next.text);
  });
}

function logTicksAt(scale: Scale, { steps, every }: (typeof LOG_STEPS)[number]): Tick[] {
  const [from = 1, to = 10] = scale.domain();
  const ticks: Tick[] = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++) {
    for (const step of steps) {
      const at = step * 10 ** power;
      if (power % every === 0 && at >= from * 0.999 && at <= to * 1.001) ticks.push({ at, text: short(at) });
    }
  }
  return ticks;
}

function short(value: number): string {
  if (value >= 1_000) return `${Number((value / 1_000).toPrecision(3))}k`;
  return String(Number(value.toPrecision(6)));
}

/** Line styles differ in colour, dashes and marker, so that they are distinguishable in greyscale. */
export const STYLES = [
  { stroke: "series-1", dash: undefined, mark: "circle" },
  { stroke: "series-2", dash: "7 3", mark: "square" },
  { stroke: "series-3", dash: "2 3", mark: "diamond" },
  { stroke: "series-4", dash: "9 3 2 3", mark: "cross" },
  { stroke: "series-5", dash: "1 4", mark: "triangle" },
] as const;

export type Style = (typeof STYLES)[number];

export function styleOf(index: number): Style {
  return STYLES[index % STYLES.length] ?? STYLES[0];
}

/** The outcomes of requests in the order of legends, with their styles: green, amber, red and violet, as on the live page. */
export const OUTCOME_STYLES = {
  offered: STYLES[0],
  admitted: STYLES[2],
  denied: STYLES[1],
  failed: STYLES[3],
  invalid: STYLES[4],
} as const satisfies Readonly<Record<string, Style>>;

interface MarkProps {
  readonly style: Style;
  readonly x: number;
  readonly y: number;
  readonly title?: string;
}

export function Mark({ style, x, y, title }: MarkProps) {
  const path = {
    circle: "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0",
    square: "M-2.6 -2.6h5.2v5.2h-5.2z",
    diamond: "M0 -3.8L3.8 0L0 3.8L-3.8 0z",
    cross: "M-3 -3L3 3M3 -3L-3 3",
    triangle: "M0 -3.6L3.6 2.8H-3.6z",
  }[style.mark];
  return (
    <path class={`mark-${style.stroke}`} d={path} transform={`translate(${n(x)} ${n(y)})`}>
      {title === undefined ? null : <title>{title}</title>}
    </path>
  );
}

export function Legend({ entries }: { readonly entries: readonly { readonly name: string; readonly style: Style }[] }) {
  return (
    <ul class="legend">
      {entries.map(({ name, style }) => (
        <li key={name}>
          <svg viewBox="0 0 32 14" aria-hidden="true">
            <line class={`line-${style.stroke}`} x1="1" x2="31" y1="7" y2="7" stroke-dasharray={style.dash} />
            <Mark style={style} x={16} y={7} />
          </svg>
          {name}
        </li>
      ))}
    </ul>
  );
}
