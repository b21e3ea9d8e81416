/** Tests that `npm test` leaves to `npm run verify long`, because each takes minutes. */
export const LONG_TESTS: readonly string[] = [
  "test/adversary/hostile-clients.test.ts",
  "test/adversary/losing-nothing.test.ts",
  "test/commands/client/client.test.ts",
  "test/commands/compare/compare.test.ts",
  "test/run/judge/policy.test.ts",
  "test/commands/load/events.test.ts",
  "test/commands/load/slower-and-slower.test.ts",
  "test/checks/token-limits.test.ts",
  "test/docs/disturbance.test.ts",
  "test/docs/recipes.test.ts",
  "test/limits/infer-rate.test.ts",
  "test/load/slowdown.test.ts",
  "test/package/tarball.test.ts",
  "test/requirements/emitted.test.ts",
  "test/run/control/whole-runs-within-plan.test.ts",
  "test/upstream/disturbance.test.ts",
];
