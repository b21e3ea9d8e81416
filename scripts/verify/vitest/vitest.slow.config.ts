import { testConfig } from "../../test-groups.ts";
import { SLOW_TESTS } from "./long-tests.ts";

/** Tests of whole runs: `npm run verify slow`, part of `.ci/run`. */
export default testConfig(SLOW_TESTS, { maxWorkers: 4 });
