import { findK6 } from "../../../src/engines/index.ts";

/** The k6 of this machine; tests that need it are skipped without one and say why. */
export const K6 = ((): string | undefined => {
  try {
    return findK6(undefined, process.env);
  } catch {
    // Not installed: whoever asks skips.
    return undefined;
  }
})();

/** What is added to the name of a test that is skipped. */
export const WITHOUT = K6 === undefined ? " (skipped: no k6 in K6_PATH or PATH; node scripts/k6.mjs builds it)" : "";
