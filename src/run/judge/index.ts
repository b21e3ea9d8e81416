export { finishLoad, keepLoad } from "./finish-load.ts";
export { judgeAgain } from "./judge-again.ts";
export { judgeLoad, type SampledExchange } from "./judge-load.ts";
export { judgeByPolicy, type PolicyStep, policyOfLoad, readBaseline, readPolicy } from "./policy-step.ts";
