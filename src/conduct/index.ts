export { runClient } from "./run-client.ts";
export type { Scenario } from "./scenario.ts";
export { SCENARIOS } from "./scenarios.ts";
