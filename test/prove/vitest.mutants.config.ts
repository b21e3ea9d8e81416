import { defineConfig } from "vitest/config";

/** The tests that hold the judging code and the decoders, for mutation testing. */
export default defineConfig({
  test: {
    include: [
      "test/wire/*.test.ts",
      "test/conformance/verdict.test.ts",
      "test/conformance/contract.test.ts",
      "test/conformance/expectation.test.ts",
      "test/conformance/good-twin.test.ts",
    ],
    testTimeout: 60_000,
  },
});
