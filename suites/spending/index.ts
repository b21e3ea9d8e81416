import type { Check } from "../../src/checks/index.ts";
import { GIVEN } from "./given.ts";
import { INDUCED } from "./induced.ts";
import { STILL_STOPPED } from "./still-stopped.ts";

/** Balance, caps and budgets, as far as they can be seen from outside. */
export const SPENDING: readonly Check[] = [...GIVEN, ...INDUCED, ...STILL_STOPPED];
