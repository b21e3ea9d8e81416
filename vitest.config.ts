import { defineConfig } from "vitest/config";
import { LONG_TESTS } from "./scripts/verify/vitest/long-tests.ts";

export default defineConfig({
  test: {
    // Commands behave as they do for a person: a CI service sets this, and then a target must be named.
    env: { CI: "" },
    include: ["test/**/*.test.ts"],
    globalSetup: "test/support/unpack-browser.ts",
    exclude: ["scripts/verify/**", ...LONG_TESTS],
    // Real sockets and processes on shared machines: generous, because a hang is what it should catch, not slowness.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 3,
    // Real time on a shared machine: a moment of starvation is no finding, a test that fails twice is.
    retry: 1,
    // Most of a judgement is waiting.
    maxConcurrency: 8,
  },
});
