import { allTests, testConfig } from "./scripts/test-groups.ts";
import { LONG_TESTS, SLOW_TESTS } from "./scripts/verify/vitest/long-tests.ts";

const elsewhere = [...SLOW_TESTS, ...LONG_TESTS];

export default testConfig(
  allTests().filter((file) => !elsewhere.includes(file)),
  { maxWorkers: 4 },
);
