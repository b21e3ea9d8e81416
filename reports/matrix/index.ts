export { BADGE_MARK } from "./badge.ts";
export type { MatrixClaim, OverheadRecord } from "./matrix-source.ts";
export { renderMatrix } from "./render-matrix.ts";
