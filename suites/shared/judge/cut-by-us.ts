import type { Response } from "../../../src/checks/index.ts";

/** Whether the recording of a response ended at Gauntlet's size limit, so that the rest is unknown. */
export function isCutByUs({ exchange }: Pick<Response, "exchange">): boolean {
  return exchange.ending.kind === "size-bound";
}
