import { formatCount, formatNumber } from "../../src/core/index.ts";
import { type LoadClass, type LoadPhase, type LoadRun, SAMPLES_NEEDED } from "../../src/record/index.ts";
import { oneLine } from "../clean-text.ts";
import { quantileLegend, quantileText, SHOWN_STATS, type ShownQuantiles } from "./quantiles.ts";

/**
 * The phase whose figures represent a run: the one at the rate limit, if each of its classes has enough requests for a p99;
 * otherwise the one that admitted most.
 */
export function headlinePhase({ phases }: LoadRun): LoadPhase | undefined {
  const atLimit = phases.find(({ name }) => name === "at-rate-limit");
  const isLarge = atLimit !== undefined && admittedClasses(atLimit).every(({ count }) => count >= SAMPLES_NEEDED.p99);
  return isLarge ? atLimit : [...phases].sort((a, b) => b.admitted - a.admitted)[0];
}

const admittedClasses = ({ classes }: LoadPhase): LoadClass[] =>
  classes.filter(({ outcome }) => outcome === "admitted");

/** The class that represents a phase, streams first: of those with enough requests for a p99 the slowest, otherwise the largest. */
export function headlineClass(phase: LoadPhase): LoadClass | undefined {
  return representative(admittedClasses(phase));
}

/** The class that represents the other mode of a phase. @param entry the headline class. */
export function otherModeClass(phase: LoadPhase, entry: LoadClass): LoadClass | undefined {
  return representative(admittedClasses(phase).filter(({ stream }) => stream !== entry.stream));
}

function representative(admitted: readonly LoadClass[]): LoadClass | undefined {
  const streams = admitted.filter(({ ttftMs }) => ttftMs !== null);
  const [candidates, field] = streams.length > 0 ? [streams, "ttftMs" as const] : [admitted, "responseMs" as const];
  const large = candidates.filter(({ count }) => count >= SAMPLES_NEEDED.p99);
  const at = (entry: LoadClass) => (large.length > 0 ? (entry[field]?.p99 ?? 0) : entry.count);
  return [...(large.length > 0 ? large : candidates)].sort((a, b) => at(b) - at(a))[0];
}

/** `chat streaming`. */
export function kindOf({ dialect, stream }: Pick<LoadClass, "dialect" | "stream">): string {
  return `${dialect} ${stream ? "streaming" : "non-streaming"}`;
}

/** Milliseconds without their unit. */
const write = (value: number): string => formatNumber(value, value < 10 ? 1 : 0);

/** The latencies of one kind of admitted request, with a text for each statistic of `SHOWN_STATS`. */
interface KindLatencies {
  /** `chat streaming`. */
  readonly kind: string;
  readonly requests: number;
  readonly rows: readonly { readonly name: string; readonly cells: readonly string[] }[];
}

/** The latency table of a run, ready to be shown. */
export interface LatencyTable {
  /** `latency in at-rate-limit, ms`. */
  readonly title: string;
  readonly stats: readonly string[];
  readonly kinds: readonly KindLatencies[];
  /** Explains the names and symbols in the table. */
  readonly legend: readonly string[];
}

export function latencyTableOf(run: LoadRun): LatencyTable {
  const kinds = latenciesOf(run);
  return { title: latencyTitle(run), stats: SHOWN_STATS, kinds, legend: latencyLegend(kinds) };
}

/** The latencies of a run: those of its main phase. */
export function latenciesOf(run: LoadRun): KindLatencies[] {
  const phase = headlinePhase(run);
  // One order in every run: by dialect, streams first.
  const classes = (phase === undefined ? [] : admittedClasses(phase)).sort(
    (a, b) => a.dialect.localeCompare(b.dialect) || Number(b.stream) - Number(a.stream),
  );
  return classes.map((entry) => ({
    kind: kindOf(entry),
    requests: entry.count,
    rows: rowsOf(entry),
  }));
}

function rowsOf(entry: LoadClass): KindLatencies["rows"] {
  const { ttftMs, itlMs, eventGapMs, responseMs } = entry;
  // Streams that do not state their tokens have only gaps between events.
  const gap = itlMs === null ? { [EVENT_GAP]: eventGapMs } : { ITL: itlMs };
  const latencies: Readonly<Record<string, ShownQuantiles | null>> = { TTFT: ttftMs, ...gap, E2E: responseMs };
  return Object.entries(latencies).flatMap(([name, quantiles]) => {
    if (quantiles === null) return [];
    return [{ name, cells: SHOWN_STATS.map((stat) => quantileText(quantiles, stat, { count: entry.count, write })) }];
  });
}

/** The name of gaps between events in a table in which other streams have an ITL. */
const EVENT_GAP = "ITL*";

/** Explains names and signs of a latency table that occur in it. */
export function latencyLegend(kinds: readonly KindLatencies[]): string[] {
  const rows = kinds.flatMap(({ rows: some }) => some);
  const signs = quantileLegend(rows.flatMap(({ cells }) => cells));
  const hasGaps = rows.some(({ name }) => name === EVENT_GAP);
  return hasGaps ? ["*: time between events, because these streams do not report token counts", ...signs] : signs;
}

/** `latency in at-rate-limit, ms`. */
export function latencyTitle(run: LoadRun): string {
  const phase = headlinePhase(run);
  return `latency${run.phases.length > 1 && phase !== undefined ? ` in ${oneLine(phase.name, 40)}` : ""}, ms`;
}

/** Width of the first column in the terminal, minimum width of the others, and maximum width of all, characters. */
const NAME_WIDTH = 13;
const MIN_WIDTH = 7;
const MAX_WIDTH = 80;

/** `6.4 (5.0–8.3)` as two lines of a cell. */
const stacked = (cell: string): string[] => cell.split(/ (?=\()/);

/** The latencies for a terminal; where a row would be too wide, the intervals are below their values. */
export function latencyLines(run: LoadRun): string[] {
  const kinds = latenciesOf(run);
  const all = kinds.flatMap(({ rows }) => rows.map(({ cells }) => cells));
  if (all.length === 0) return [];
  const widthsOf = (linesOf: (cell: string) => readonly string[]) =>
    SHOWN_STATS.map((stat, column) => {
      const texts = [stat, ...all.flatMap((cells) => linesOf(cells[column] ?? ""))];
      return Math.max(MIN_WIDTH, ...texts.map(({ length }) => length + 2));
    });
  const inOneLine = widthsOf((cell) => [cell]);
  const isWide = 2 + NAME_WIDTH + inOneLine.reduce((sum, width) => sum + width, 0) > MAX_WIDTH;
  const widths = isWide ? widthsOf(stacked) : inOneLine;
  const line = (name: string, cells: readonly string[]) =>
    `  ${name.padEnd(NAME_WIDTH)}${cells.map((cell, column) => cell.padStart(widths[column] ?? 0)).join("")}`.trimEnd();
  const linesOf = (name: string, cells: readonly string[]) => {
    if (!isWide) return [line(name, cells)];
    const intervals = cells.map((cell) => stacked(cell)[1] ?? "");
    const values = line(
      name,
      cells.map((cell) => stacked(cell)[0] ?? ""),
    );
    return intervals.every((one) => one === "") ? [values] : [values, line("", intervals)];
  };
  const title = latencyTitle(run);
  const legend = latencyLegend(kinds);
  return [
    ...(title.length < NAME_WIDTH ? [line(title, SHOWN_STATS)] : [`  ${title}`, line("", SHOWN_STATS)]),
    ...kinds.flatMap(({ kind, requests, rows }) => [
      `  ${kind}, ${formatCount(requests, "request")}`,
      ...rows.flatMap(({ name, cells }) => linesOf(`  ${name}`, cells)),
    ]),
    ...(legend.length === 0 ? [] : [`  ${legend.join("; ")}`]),
  ];
}
