import { defineConfig } from "vitest/config";
import { RetriesReporter } from "./scripts/retries-reporter.ts";
import { allTests, testGroups } from "./scripts/test-groups.ts";
import { LONG_TESTS } from "./scripts/verify/vitest/long-tests.ts";

export default defineConfig({
  test: {
    // Commands behave as they do for a person: a CI service sets this, and then a target must be named.
    env: { CI: "" },
    projects: testGroups(allTests().filter((file) => !LONG_TESTS.includes(file))),
    reporters: ["default", new RetriesReporter()],
    // Real sockets and processes on shared machines: generous, because a hang is what it should catch, not slowness.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 4,
    // Most of a judgement is waiting.
    maxConcurrency: 8,
  },
});
