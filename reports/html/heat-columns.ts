import { readHeatColumn } from "../../src/metrics/index.ts";
import type { LoadHeat, LoadPhase } from "../../src/record/index.ts";

/** Most columns of a drawing: narrower ones are not seen any more. */
const MAX_COLUMNS = 130;

export interface HeatCell {
  readonly column: number;
  readonly row: number;
  readonly count: number;
}

export interface HeatColumns {
  /** Width of a column, s; column i begins i times as many seconds after the beginning of the run. */
  readonly everyS: number;
  readonly columns: number;
  /** Each place once, in order of row and column. */
  readonly cells: readonly HeatCell[];
}

/** Puts the heat of the phases of a run onto one row of columns. @returns `undefined` when nothing was kept. */
export function heatColumns(phases: readonly LoadPhase[], figure: "response" | "ttft"): HeatColumns | undefined {
  const kept = phases.flatMap(({ startS, heat }) => {
    const own = heat?.[figure];
    return own === undefined ? [] : [{ startS, heat: own satisfies LoadHeat }];
  });
  const widest = Math.max(0, ...kept.map(({ heat }) => heat.everyS));
  if (widest === 0) return undefined;
  const endS = Math.max(...kept.map(({ startS, heat }) => startS + heat.columns.length * heat.everyS));
  // A whole multiple of what was kept: anything else would put two columns here and one there.
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
