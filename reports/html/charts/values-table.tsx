import { decimal, ms } from "../format.ts";
import { type Cell, DataTable } from "../parts.tsx";

/** How the values of a drawing over time are listed. */
export interface Values {
  /** What they are, with the name of the run, because a page has each caption once. */
  readonly what: string;
  /** Seconds that each point covers. */
  readonly everyS: number;
}

/** The values of one line. */
export interface ValueColumn {
  /** Its panel; empty if the name of the line is enough. */
  readonly panel: string;
  /** Its name; empty if the panel has only this line. */
  readonly line: string;
  /** Of counts and rates: empty. */
  readonly unit: "" | "ms";
  readonly points: readonly { readonly atS: number; readonly value: number | null }[];
}

interface ValuesTableProps {
  /** All of them have the same points. */
  readonly columns: readonly ValueColumn[];
  readonly values: Values;
}

/** The values that a drawing over time shows, a row for each point. The script reads them for its cursor. */
export function ValuesTable({ columns, values: { what, everyS } }: ValuesTableProps) {
  const times = columns[0]?.points.map(({ atS }) => atS) ?? [];
  // Phases begin at any time: what two of them did in the same second are two rows.
  const digits = times.every((atS) => Math.abs(atS - Math.round(atS)) < 0.05) ? 0 : 1;
  const every = everyS === 1 ? "second" : `${everyS} seconds`;
  return (
    <details class="behind values">
      <summary>Values every {every}</summary>
      <DataTable
        caption={`${what}, for every ${every}`}
        head={["From second", ...columns.map(head)]}
        rows={times.map((atS, index) => [
          decimal(atS, digits),
          ...columns.map(({ unit, points }) => text(points[index]?.value ?? null, unit)),
        ])}
      />
    </details>
  );
}

/** The panel is marked, so that the script can name it once before the values of its lines. */
function head({ panel, line, unit }: ValueColumn): Cell {
  if (panel === "") return { value: line };
  return {
    value: (
      <>
        <span data-unit={unit}>{panel}</span>
        {line === "" ? null : ` ${line}`}
      </>
    ),
  };
}

function text(value: number | null, unit: ValueColumn["unit"]): string {
  if (value === null) return "–";
  if (unit === "ms") return ms(value);
  return decimal(value, Number.isInteger(value) ? 0 : value < 10 ? 2 : 1);
}
