export { DENIALS, type DenialRow, denial, type Reason } from "./denials.ts";
export { EXCLUSIONS } from "./exclusions.ts";
export {
  type CompatRow,
  isRowId,
  type Layer,
  LEDGER,
  type LedgerRow,
  ledgerRow,
  type MustRow,
  type RowId,
  type ShouldRow,
} from "./ledger.ts";
export type {} from "./requirement.ts";
export { REQUIREMENT_SET, rowsAfter } from "./requirement-set.ts";
