import { findK6 } from "../../../src/engines/index.ts";

/** The k6 of this machine; without one, tests that need it are skipped and say why. */
export const K6 = ((): string | undefined => {
  try {
    return findK6(undefined, process.env);
  } catch {
    // Not installed: the caller skips.
    return undefined;
  }
})();

/** Suffix of the name of a skipped test. */
export const WITHOUT = K6 === undefined ? " (skipped: no k6 in K6_PATH or PATH; node scripts/k6.mjs builds it)" : "";
