import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/prove/**"],
    // Real sockets and processes on shared machines: generous, because a hang is what it should catch, not slowness.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
    // Real time on a shared machine: a moment of starvation is no finding, a test that fails twice is.
    retry: 1,
    // Most of a judgement is waiting.
    maxConcurrency: 8,
  },
});
