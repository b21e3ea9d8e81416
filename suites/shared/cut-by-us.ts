import type { Response } from "../../src/checks/index.ts";

/** Whether the recording of a response ended at a bound of ours on its size: what it would have been is not known. */
export function isCutByUs({ exchange }: Pick<Response, "exchange">): boolean {
  return exchange.ending.kind === "size-bound";
}
