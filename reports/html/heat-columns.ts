import { readHeatColumn } from "../../src/metrics/index.ts";
import type { LoadHeat, LoadPhase } from "../../src/record/index.ts";

/** Maximum number of columns in a drawing: narrower ones would be invisible. */
const MAX_COLUMNS = 130;

export interface HeatCell {
  readonly column: number;
  readonly row: number;
  readonly count: number;
}

export interface HeatColumns {
  /** Width of a column, s; column i begins i times this many seconds after the start of the run. */
  readonly everyS: number;
  readonly columns: number;
  /** Each cell once, ordered by row and column. */
  readonly cells: readonly HeatCell[];
}

/** Puts the heat maps of all phases of a run onto one row of columns. @returns `undefined` when none were recorded. */
export function heatColumns(phases: readonly LoadPhase[], figure: "response" | "ttft"): HeatColumns | undefined {
  const kept = phases.flatMap(({ startS, heat }) => {
    const own = heat?.[figure];
    return own === undefined ? [] : [{ startS, heat: own satisfies LoadHeat }];
  });
  const widest = Math.max(0, ...kept.map(({ heat }) => heat.everyS));
  if (widest === 0) return undefined;
  const endS = Math.max(...kept.map(({ startS, heat }) => startS + heat.columns.length * heat.everyS));
  // A whole multiple of the recorded width: otherwise some columns would cover two recorded ones and others only one.
  const everyS = widest * Math.max(1, Math.ceil(endS / (widest * MAX_COLUMNS)));
  const counts = new Map<string, HeatCell>();
  for (const { startS, heat } of kept) {
    for (const [index, text] of heat.columns.entries()) {
      const column = Math.floor((startS + index * heat.everyS) / everyS);
      for (const [row, count] of readHeatColumn(text)) {
        const place = `${row} ${column}`;
        counts.set(place, { column, row, count: count + (counts.get(place)?.count ?? 0) });
      }
    }
  }
  const cells = [...counts.values()].sort((a, b) => a.row - b.row || a.column - b.column);
  return cells.length === 0 ? undefined : { everyS, columns: Math.ceil(endS / everyS), cells };
}
