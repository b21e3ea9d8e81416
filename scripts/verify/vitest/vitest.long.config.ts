import { defineConfig } from "vitest/config";
import { RetriesReporter } from "../../retries-reporter.ts";
import { testGroups } from "../../test-groups.ts";
import { LONG_TESTS } from "./long-tests.ts";

/** Slow tests that wait for minutes of real time: `npm run verify long`, part of `.ci/run`. */
export default defineConfig({
  test: {
    // Commands behave as for a person: a CI service sets this, and then a target must be named.
    env: { CI: "" },
    projects: testGroups(LONG_TESTS),
    reporters: ["default", new RetriesReporter()],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
    maxConcurrency: 8,
  },
});
