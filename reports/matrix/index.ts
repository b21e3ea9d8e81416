export { BADGE_MARK } from "./badge.ts";
export type { MatrixClaim } from "./matrix-source.ts";
export { renderMatrix } from "./render-matrix.ts";
