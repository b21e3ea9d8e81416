import { defineConfig } from "vitest/config";

/** The tests that hold the judging code and the decoders, for mutation testing. */
export default defineConfig({
  test: {
    include: [
      "test/dialects/*.test.ts",
      "test/checks/verdict.test.ts",
      "test/checks/contract.test.ts",
      "test/checks/expectation.test.ts",
      "test/checks/good-control.test.ts",
    ],
    testTimeout: 60_000,
  },
});
