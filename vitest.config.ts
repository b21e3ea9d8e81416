import { allTests, testConfig } from "./scripts/test-groups.ts";
import { LONG_TESTS, SLOW_TESTS } from "./scripts/verify/vitest/long-tests.ts";

const elsewhere = [...SLOW_TESTS, ...LONG_TESTS];
/** Files and folders on the command line: what is named runs, however long it takes. */
const named = process.argv.filter((argument) => argument.startsWith("test/"));

export default testConfig(
  allTests().filter((file) => !elsewhere.includes(file) || named.some((path) => file.startsWith(path))),
  { maxWorkers: 4 },
);
