export type { Observation, Outcome } from "./observation.ts";
