import type { Check } from "../../src/checks/index.ts";
import { ACCEPTED_KEYS } from "./accepted.ts";
import { BOTH_KEYS } from "./both-keys.ts";
import { DENIED_KEYS } from "./denied.ts";

/** Bearer keys: which ones are accepted, and how the others are denied. */
export const AUTH: readonly Check[] = [...ACCEPTED_KEYS, ...BOTH_KEYS, ...DENIED_KEYS];
