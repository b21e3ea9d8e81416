export { type Conclusion, conclusionOf } from "./conclusion.ts";
export * from "./expectation.ts";
export type { Observation, Outcome } from "./observation.ts";
export { isAmbient, Undecided, Verdict } from "./verdict.ts";
