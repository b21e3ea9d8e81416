export { fingerprint, type UpstreamRequest } from "./request-log.ts";
export { type Scenario, type ScriptInput, scenarioJsonSchema, scenarioSchema } from "./scenario.ts";
export { type RunningUpstream, startUpstream } from "./start-upstream.ts";
