import { defineConfig } from "vitest/config";

/** The tests of the judging code and the decoders, for mutation testing. */
export default defineConfig({
  test: {
    include: [
      "test/dialects/**/*.test.ts",
      "test/checks/runner/judge.test.ts",
      "test/checks/declare/contract.test.ts",
      "test/judging/*.test.ts",
      "test/limits/*.test.ts",
      "test/load/tier/disturbed-judges.test.ts",
      "test/checks/control-request.test.ts",
    ],
    testTimeout: 60_000,
  },
});
