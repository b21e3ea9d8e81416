import type { SecondQuantiles } from "../../../record/index.ts";
import type { LiveEvent, LiveSecond } from "../live-feed.ts";
import { draw, figure, make, whole } from "./dom.ts";

interface Series {
  readonly name: string;
  /** Number of its line style; by default its place in the chart. */
  readonly style?: number;
  readonly read: (second: LiveSecond) => number | null;
}

export interface ChartOptions {
  readonly title: string;
  /** Before the name of a series where several charts are listed. */
  readonly prefix?: string;
  readonly unit: "" | "ms";
  readonly series: readonly Series[];
}

type CountField = "offered" | "admitted" | "denied" | "failed" | "invalid";

/** The colours that the report gives to outcomes: green, amber, red and violet. */
const STYLES: Readonly<Record<CountField, number>> = { offered: 1, admitted: 3, denied: 2, failed: 4, invalid: 5 };

const count = (name: CountField): Series => ({ name, style: STYLES[name], read: (second) => second[name] });

const quantiles = (read: (second: LiveSecond) => SecondQuantiles): readonly Series[] =>
  (["p50", "p95", "p99"] as const).map((name) => ({ name, read: (second) => read(second)?.[name] ?? null }));

export const CHARTS: readonly ChartOptions[] = [
  {
    title: "Requests per second",
    unit: "",
    series: [count("offered"), count("admitted"), count("denied"), count("failed"), count("invalid")],
  },
  { title: "Requests in flight", unit: "", series: [{ name: "in flight", read: ({ inFlight }) => inFlight }] },
  { title: "TTFT, ms", prefix: "TTFT ", unit: "ms", series: quantiles(({ ttftMs }) => ttftMs) },
  {
    title: "E2E latency of streams, ms",
    prefix: "E2E streaming ",
    unit: "ms",
    series: quantiles(({ responseByModeMs }) => responseByModeMs.streaming),
  },
  {
    title: "E2E latency of non-streaming replies, ms",
    prefix: "E2E non-streaming ",
    unit: "ms",
    series: quantiles(({ responseByModeMs }) => responseByModeMs.nonStreaming),
  },
];

export const valueText = ({ unit }: ChartOptions, value: number | null) => (unit === "" ? whole(value) : figure(value));

export function valuesAt(chart: ChartOptions, second: LiveSecond): string {
  const unit = chart.unit === "" ? "" : ` ${chart.unit}`;
  return chart.series.map(({ name, read }) => `${name} ${valueText(chart, read(second))}${unit}`).join(", ");
}

/** Around the lines, pixels. */
const ROOM = { left: 44, right: 8, top: 14, bottom: 18 };
/** Between two labels of the x axis, and of a character, pixels. */
const MIN_TICK_WIDTH = 60;
const CHARACTER_WIDTH = 6.2;
/** A shorter run does not fill the width. */
const MIN_SPAN_S = 10;

/** One chart of the page: lines over time, a cursor, and a description of the latest second. */
export class Chart {
  readonly svg = draw("svg", { tabindex: 0, role: "img" });
  readonly options: ChartOptions;
  readonly #box = make("figure");
  #seconds: readonly LiveSecond[] = [];

  /** @param place receives the figure. */
  constructor(options: ChartOptions, place: HTMLElement) {
    this.options = options;
    const key = make("ul", "", "key");
    for (const [index, { name, style = index + 1 }] of options.series.entries()) {
      const line = draw("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" });
      line.append(draw("polyline", { points: "0,5 26,5", class: `s${style}` }));
      const item = make("li");
      item.append(line, name);
      key.append(item);
    }
    this.#box.append(make("figcaption", options.title), key, this.svg);
    place.append(this.#box);
  }

  /** A chart of latencies is hidden in a run without them, such as that of streams if nothing is streamed. */
  set isShown(isShown: boolean) {
    this.#box.hidden = !isShown;
  }

  /** @param cursorS a second to mark. @param events of the run, which are marked as well. */
  show(seconds: readonly LiveSecond[], cursorS: number | undefined, events: readonly LiveEvent[]): void {
    this.#seconds = seconds;
    const { title, series } = this.options;
    const width = this.svg.clientWidth || 400;
    const height = this.svg.clientHeight || 176;
    const { firstS, spanS } = this.#time();
    const top = roundedUp(Math.max(0, ...seconds.flatMap((second) => series.map(({ read }) => read(second) ?? 0))));
    const x = (atS: number) => ROOM.left + ((atS - firstS) / spanS) * (width - ROOM.left - ROOM.right);
    const y = (value: number) => height - ROOM.bottom - (value / top) * (height - ROOM.top - ROOM.bottom);
    const grid = [0, 0.5, 1].flatMap((share) => {
      const at = y(top * share);
      return [
        draw("line", { x1: ROOM.left, x2: width - ROOM.right, y1: at, y2: at, class: "grid" }),
        draw("text", { x: ROOM.left - 6, y: at + 4, "text-anchor": "end" }, axisText(top * share)),
      ];
    });
    const times = ticksIn(firstS, spanS, (width - ROOM.left - ROOM.right) / MIN_TICK_WIDTH).flatMap((atS) => {
      const at = x(atS);
      const anchor = at > width - ROOM.right - 14 ? "end" : "middle";
      return [
        draw("line", { x1: at, x2: at, y1: ROOM.top, y2: height - ROOM.bottom, class: "grid" }),
        draw("text", { x: at, y: height - 4, "text-anchor": anchor }, `${atS} s`),
      ];
    });
    const phases = startsOf(seconds).flatMap(({ phase, atS }, index, all) => {
      const [at, next] = [x(atS), all[index + 1]];
      const room = (next === undefined ? width : x(next.atS)) - at;
      // A name that would run into the next one is left out; the table below has all phases.
      const isShown = all.length > 1 && phase.length * CHARACTER_WIDTH + 6 <= room;
      return [
        draw("line", { x1: at, x2: at, y1: ROOM.top, y2: height - ROOM.bottom, class: "phase" }),
        ...(isShown ? [draw("text", { x: at + 3, y: ROOM.top - 4 }, phase)] : []),
      ];
    });
    const lines = series.flatMap(({ read, style: given }, index) => {
      const style = given ?? index + 1;
      return pieces(seconds, read).map((piece) => {
        const [first] = piece;
        // A line of a single value has no length, and a dash pattern would hide a short one.
        if (piece.length === 1 && first !== undefined)
          return draw("circle", { cx: x(first.atS), cy: y(first.value), r: 2.5, fill: `var(--series-${style})` });
        const points = piece.map(({ atS, value }) => `${x(atS).toFixed(1)},${y(value).toFixed(1)}`);
        return draw("polyline", { points: points.join(" "), class: `s${style}` });
      });
    });
    const cursor = seconds
      .filter(({ atS }) => atS === cursorS)
      .map(({ atS }) =>
        draw("line", { x1: x(atS), x2: x(atS), y1: ROOM.top, y2: height - ROOM.bottom, class: "cursor" }),
      );
    const marks = events
      .filter(({ atS }) => atS >= firstS && atS <= firstS + spanS)
      .flatMap(({ event, does, atS }) => [
        draw("line", { x1: x(atS), x2: x(atS), y1: ROOM.top, y2: height - ROOM.bottom, class: "event" }),
        draw("text", { x: x(atS) + 3, y: ROOM.top + 9 }, does === "undo" ? `${event} undone` : event),
      ]);
    const last = seconds.at(-1);
    const description =
      last === undefined ? "nothing yet" : `at ${Math.round(last.atS)} s: ${valuesAt(this.options, last)}`;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("aria-label", `${title}${last === undefined ? ":" : ","} ${description}`);
    this.svg.replaceChildren(...grid, ...times, ...phases, ...lines, ...marks, ...cursor);
  }

  /** The second nearest to a place on the screen. @param clientX pixels. */
  secondAt(clientX: number): number | undefined {
    const { left, width } = this.svg.getBoundingClientRect();
    const { firstS, spanS } = this.#time();
    const atS = firstS + ((clientX - left - ROOM.left) / (width - ROOM.left - ROOM.right)) * spanS;
    const distance = (second: LiveSecond) => Math.abs(second.atS - atS);
    return [...this.#seconds].sort((a, b) => distance(a) - distance(b))[0]?.atS;
  }

  #time(): { readonly firstS: number; readonly spanS: number } {
    const firstS = this.#seconds[0]?.atS ?? 0;
    return { firstS, spanS: Math.max(MIN_SPAN_S, (this.#seconds.at(-1)?.atS ?? 0) - firstS) };
  }
}

/** Round seconds in a span, at most about `count`. */
function ticksIn(firstS: number, spanS: number, count: number): number[] {
  const step = TICK_STEPS_S.find((one) => spanS / one <= count) ?? 3_600;
  const ticks: number[] = [];
  for (let atS = Math.ceil(firstS / step) * step; atS <= firstS + spanS; atS += step) ticks.push(atS);
  return ticks;
}

const TICK_STEPS_S = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200];

/** The first second of each phase. */
function startsOf(seconds: readonly LiveSecond[]): LiveSecond[] {
  return seconds.filter(({ phase }, index) => seconds[index - 1]?.phase !== phase);
}

/** To one significant digit. */
function roundedUp(value: number): number {
  const step = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return Math.ceil(Math.max(1, value) / step) * step;
}

const axisText = (value: number) =>
  value >= 1_000 ? `${(value / 1_000).toLocaleString("en")}k` : value.toLocaleString("en");

interface Point {
  readonly atS: number;
  readonly value: number;
}

/** A second without a value is a gap, not a zero; so is one in which nothing happened. */
function pieces(seconds: readonly LiveSecond[], read: Series["read"]): Point[][] {
  const all: Point[][] = [];
  let open: Point[] | undefined;
  let beforeS: number | undefined;
  for (const second of seconds) {
    const { atS } = second;
    const value = read(second);
    if (value === null || (beforeS !== undefined && atS - beforeS > 1.5)) open = undefined;
    beforeS = atS;
    if (value === null) continue;
    if (open === undefined) {
      open = [];
      all.push(open);
    }
    open.push({ atS, value });
  }
  return all;
}
