import type { Check } from "../../src/checks/index.ts";
import { DAY_BOUNDARY } from "./day-boundary.ts";
import { KEY_FIXTURES } from "./key-fixtures.ts";
import { KEYS_USED_UP } from "./keys-used-up.ts";
import { PARALLEL } from "./parallel.ts";
import { STILL_DENIED } from "./still-denied.ts";

/** Balance, caps and budgets, as far as they are visible from outside. */
export const SPENDING: readonly Check[] = [
  ...KEY_FIXTURES,
  ...DAY_BOUNDARY,
  ...KEYS_USED_UP,
  ...STILL_DENIED,
  ...PARALLEL,
];
