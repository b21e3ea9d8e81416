/** Tests that `npm test` leaves to `npm run verify long`, so that it takes less than six minutes on two cores. */
export const LONG_TESTS: readonly string[] = [
  "test/adversary/hostile-clients.test.ts",
  "test/adversary/losing-nothing.test.ts",
  "test/app/client.test.ts",
  "test/app/compare.test.ts",
  "test/app/policy.test.ts",
  "test/app/slower-and-slower.test.ts",
  "test/checks/token-limits.test.ts",
  "test/docs/recipes.test.ts",
  "test/limits/infer-rate.test.ts",
  "test/load/slowdown.test.ts",
  "test/package/tarball.test.ts",
  "test/requirements/emitted.test.ts",
  "test/app/whole-runs-within-plan.test.ts",
];
