import type { Check } from "../src/conformance/index.ts";
import { AUTH } from "./auth.ts";

/** Every check there is, in the order in which reports show them. */
export const CHECKS: readonly Check[] = [...AUTH];
