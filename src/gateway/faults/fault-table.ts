import type { Fault } from "./fault.ts";

/** Every defect that can be switched on. */
export const FAULTS: readonly Fault[] = [];
