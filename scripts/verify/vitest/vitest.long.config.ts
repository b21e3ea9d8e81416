import { defineConfig } from "vitest/config";
import { LONG_TESTS } from "./long-tests.ts";

/** Slow tests that wait for minutes of real time: `npm run verify long`, part of `.ci/run`. */
export default defineConfig({
  test: {
    // Commands behave as for a person: a CI service sets this, and then a target must be named.
    env: { CI: "" },
    include: [...LONG_TESTS],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
    retry: 1,
    maxConcurrency: 8,
  },
});
