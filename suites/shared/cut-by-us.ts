import type { Response } from "../../src/checks/index.ts";

/** No valid reply of a run is longer. */
const MIB = 1_024 ** 2;

/**
 * Whether an answer was left because this process had kept enough of all answers together: then it says nothing. One that went on
 * for a megabyte was left because it would not end.
 */
export function isCutByUs({ exchange }: Pick<Response, "exchange">): boolean {
  return exchange.ending.kind === "size-bound" && (exchange.response?.body.bytes ?? 0) < MIB;
}
