import type { Variant } from "../faults/fault.ts";

/** Every legal variant that can be switched on. */
export const VARIANTS: readonly Variant[] = [];
