export { adviceFor, type CauseFacts, causeTitle } from "./cause.ts";
export { describeBroken, describeOpen, describePass, describeSilence } from "./conclusion.ts";
export {
  describeExpected,
  describeFacts,
  describeFinding,
  describeObserved,
  describeResponse,
  describeUndecided,
} from "./finding.ts";
