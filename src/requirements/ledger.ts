import { COMPAT_ROWS } from "./compat-rows.ts";
import { PROTOCOL_ROWS } from "./protocol-rows.ts";
import type { Level } from "./requirement.ts";
import { REQUIREMENTS } from "./requirements.ts";

/** Whose demand a row is. Layers are reported apart. */
export type Layer = "specification" | "protocol" | "compat";

type SpecRow = (typeof REQUIREMENTS)[number];
type ProtocolRow = (typeof PROTOCOL_ROWS)[number];

type IdOf<Row extends { id: string; level: string }, L extends string> = Extract<Row, { level: L }>["id"];

/** Rows whose miss is a failure. An OPEN row is not among them, so that handing one to `must()` does not compile. */
export type MustRow = IdOf<SpecRow, "MUST"> | IdOf<ProtocolRow, "MUST">;
/** Rows whose miss can be a warning: stated ones where only part of a statement is meant, never OPEN ones. */
export type ShouldRow = MustRow | IdOf<SpecRow, "SHOULD" | "MAY"> | IdOf<ProtocolRow, "SHOULD">;
export type CompatRow = (typeof COMPAT_ROWS)[number]["id"];
export type RowId = SpecRow["id"] | ProtocolRow["id"] | CompatRow;

/** A row of any layer. */
export interface LedgerRow {
  readonly id: RowId;
  readonly layer: Layer;
  readonly level: Level;
  readonly binds: "gateway" | "client";
  readonly area: string;
  readonly source: string;
  readonly text: string;
}

export const LEDGER: readonly LedgerRow[] = [
  ...REQUIREMENTS.map((row) => ({ ...row, layer: "specification" as const })),
  ...PROTOCOL_ROWS.map((row) => ({
    ...row,
    layer: "protocol" as const,
    binds: "binds" in row ? row.binds : ("gateway" as const),
    area: "robustness",
  })),
  ...COMPAT_ROWS.map((row) => ({
    ...row,
    layer: "compat" as const,
    level: "SHOULD" as const,
    binds: "gateway" as const,
    area: "compat",
  })),
];

const BY_ID: ReadonlyMap<string, LedgerRow> = new Map(LEDGER.map((row) => [row.id, row]));

export function ledgerRow(id: RowId): LedgerRow {
  const row = BY_ID.get(id);
  if (row === undefined) throw new Error(`the ledger has no row ${id}`);
  return row;
}

export function isRowId(id: string): id is RowId {
  return BY_ID.has(id);
}
