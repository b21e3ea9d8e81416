export { causesByDeviation, causesOf } from "./causes.ts";
export { type Conclusion, conclusionOf } from "./conclusion.ts";
export {
  denialWords,
  readAs,
  reasonsOf,
  specReason,
  statusOfDenial,
} from "./denial-words.ts";
export * from "./expectation.ts";
export { type FindingFacts, finding } from "./finding.ts";
export type { Observation, Outcome, ReceivedReply } from "./observation.ts";
export { type ComparedValues, isAmbient, type JudgeGuard, Undecided, Verdict } from "./verdict.ts";
