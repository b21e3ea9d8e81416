export { costOf } from "./cost.ts";
export { GeneratorHealth } from "./generator-health.ts";
export { verdictOf } from "./phase-record.ts";
export type { LoadProgress } from "./progress.ts";
export { judgeTotals, type RanLoad, runWorkload } from "./run-workload.ts";
export type { Sample } from "./sampler.ts";
export { modelFor, plainRequest, promptOf } from "./shots.ts";
export { loadWorkload, type Workload, workloadJsonSchema } from "./workload.ts";
