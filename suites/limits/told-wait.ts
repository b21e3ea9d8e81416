import type { Answer } from "../../src/conformance/index.ts";
import { retryAfterMs } from "../../src/wire/index.ts";

/** The wait that a denial asks for, ms from its arrival; `undefined` when it gives no usable one. */
export function toldWaitMs(denial: Answer): number | undefined {
  return retryAfterMs(denial.header("retry-after") ?? "", denial.arrivedAtMs);
}
