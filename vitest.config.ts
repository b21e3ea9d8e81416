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
    // Most of a judgement is waiting.
    maxConcurrency: 8,
  },
});
