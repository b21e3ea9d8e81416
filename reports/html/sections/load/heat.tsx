import { ROWS_PER_DECADE } from "../../../../src/metrics/index.ts";
import type { LoadRun } from "../../../../src/record/index.ts";
import { oneLine } from "../../../clean-text.ts";
import { HeatMap } from "../../charts/heat-map.tsx";
import { decimal, duration } from "../../format.ts";
import { type HeatColumns, heatColumns } from "../../heat-columns.ts";
import { spansOfRun } from "../../load-phases.ts";
import { DataTable, Figure } from "../../parts.tsx";

const FIGURES = [
  { figure: "response", what: "E2E latency" },
  { figure: "ttft", what: "TTFT" },
] as const;

/** One or two columns are a histogram, and percentiles show that better. */
const MIN_COLUMNS = 3;

/** Distribution of durations over a run: a second latency mode is visible here and in no quantile. */
export function RunHeat({ run }: { readonly run: LoadRun }) {
  const phases = spansOfRun(run);
  const drawn = FIGURES.filter(({ figure }) => (heatColumns(run.phases, figure)?.columns ?? 0) >= MIN_COLUMNS);
  if (drawn.length === 0) return null;
  return (
    <details>
      <summary>Heat maps: latency distribution over time</summary>
      {drawn.map(({ figure, what }) => {
        const heat = heatColumns(run.phases, figure);
        if (heat === undefined) return null;
        const { everyS, cells } = heat;
        const width = everyS === 1 ? "second" : `${decimal(everyS)} seconds`;
        return (
          <Figure
            key={figure}
            title={`${what} over time`}
            note={`Admitted requests by duration, for every ${width}: a stronger colour means more requests.`}
            drawing={
              <HeatMap
                label={`${what} of ${oneLine(run.name, 40)} over ${decimal(run.durationS)} seconds, as a heat map. ${usual(heat)} The table has the counts.`}
                phases={phases}
                cells={cells.map(({ column, row, count }) => ({
                  fromS: column * everyS,
                  toS: (column + 1) * everyS,
                  fromMs: atLeastMs(row),
                  toMs: atLeastMs(row + 1),
                  count,
                }))}
              />
            }
          >
            <HeatTable heat={heat} what={`${what} in ${oneLine(run.name, 40)}`} />
          </Figure>
        );
      })}
    </details>
  );
}

/** Lower bound of a row, ms. */
function atLeastMs(row: number): number {
  return 10 ** (row / ROWS_PER_DECADE) / 1_000;
}

function usual({ cells }: HeatColumns): string {
  const countByRow = new Map<number, number>();
  for (const { row, count } of cells) countByRow.set(row, (countByRow.get(row) ?? 0) + count);
  const [most] = [...countByRow].sort(([, a], [, b]) => b - a);
  const slowest = Math.max(...countByRow.keys());
  if (most === undefined) return "";
  const usualSpan = span(most[0], most[0] + 1);
  const slowestSpan = span(slowest, slowest + 1);
  if (usualSpan === slowestSpan) return `Most took ${usualSpan}; none took longer.`;
  return `Most took ${usualSpan}; the slowest ${decimal(countByRow.get(slowest) ?? 0)}, ${slowestSpan}.`;
}

function span(fromRow: number, toRow: number): string {
  return `${duration(atLeastMs(fromRow))} to ${duration(atLeastMs(toRow))}`;
}

const MAX_BANDS = 8;
const MAX_LINES = 30;

/** The counts in wider steps, to fit in a table. */
function HeatTable({ heat, what }: { readonly heat: HeatColumns; readonly what: string }) {
  const { cells, columns, everyS } = heat;
  const lowest = Math.min(...cells.map(({ row }) => row));
  const rows = Math.max(...cells.map(({ row }) => row)) - lowest + 1;
  const rowsPerBand = Math.ceil(rows / MAX_BANDS);
  const columnsPerLine = Math.ceil(columns / MAX_LINES);
  const bands = Math.ceil(rows / rowsPerBand);
  const lines = Array.from({ length: Math.ceil(columns / columnsPerLine) }, () => new Array<number>(bands).fill(0));
  for (const { column, row, count } of cells) {
    const line = lines[Math.floor(column / columnsPerLine)] as number[];
    const band = Math.floor((row - lowest) / rowsPerBand);
    line[band] = (line[band] ?? 0) + count;
  }
  return (
    <DataTable
      caption={`Admitted requests by their ${what}, for every ${decimal(columnsPerLine * everyS)} s`}
      head={[
        "From second",
        ...Array.from({ length: bands }, (_, band) => {
          const from = lowest + band * rowsPerBand;
          return { value: span(from, from + rowsPerBand), number: true };
        }),
      ]}
      rows={lines.map((counts, index) => [
        decimal(index * columnsPerLine * everyS),
        ...counts.map((count) => (count === 0 ? "–" : decimal(count))),
      ])}
    />
  );
}
