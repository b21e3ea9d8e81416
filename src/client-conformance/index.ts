export type { ClientRun } from "./observation.ts";
export { judgeScenario, scenarioNotRun } from "./result.ts";
export { runClient } from "./run-client.ts";
export type { Scenario } from "./scenario.ts";
export { SCENARIOS } from "./scenarios.ts";
