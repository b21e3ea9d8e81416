export type { LoadProgress } from "./progress.ts";
export { boundOf, type LoadContext, type RanLoad, runWorkload } from "./run-workload.ts";
export type { Sample } from "./sampler.ts";
export { planOf } from "./schedule.ts";
export { loadWorkload, type Workload, workloadJsonSchema } from "./workload.ts";
