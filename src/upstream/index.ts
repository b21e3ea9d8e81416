export { fingerprint, type UpstreamRequest } from "./request-log.ts";
export { type Scenario, scenarioJsonSchema, scenarioSchema, type WrittenAnswers } from "./scenario.ts";
export { type RunningUpstream, startUpstream } from "./start-upstream.ts";
