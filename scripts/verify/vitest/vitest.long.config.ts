import { testConfig } from "../../test-groups.ts";
import { LONG_TESTS } from "./long-tests.ts";

/** Tests that wait for minutes of real time: `npm run verify long`, part of `.ci/run`. */
export default testConfig(LONG_TESTS, { maxWorkers: 2, testTimeout: 120_000 });
