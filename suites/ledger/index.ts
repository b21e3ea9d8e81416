import type { Check } from "../../src/checks/index.ts";
import { ACCOUNT } from "./account.ts";
import { CHARGES } from "./charges.ts";
import { PRICES } from "./prices.ts";
import { TOKENS } from "./tokens.ts";

/** What the gateway records of requests and their cost, compared with what its providers counted. */
export const LEDGER: readonly Check[] = [...CHARGES, ...TOKENS, ...PRICES, ...ACCOUNT];
