export { adviceFor, type CauseFacts, causeTitle } from "./cause.ts";
export { type ChangesOfCause, changesByCause, describeChanges, describeNewFailures } from "./changes.ts";
export {
  areFiguresUsable,
  describeComparison,
  describeFigure,
  figureChange,
  figureInterval,
  figureMargin,
  figureValue,
  figureVerdict,
  groupDrift,
  importantFirst,
  isMeasured,
  mainFigures,
  mainMetrics,
  readFigure,
} from "./comparison.ts";
export { describeBroken, describeOpen, describePass, describeSilence } from "./conclusion.ts";
export { describeKinds } from "./event-kinds.ts";
export { describeExitCode, isSuiteError } from "./exit-code.ts";
export {
  describeExpected,
  describeFacts,
  describeFinding,
  describeObserved,
} from "./finding.ts";
export { LOAD_TERMS, RESULT_TERMS, type Term } from "./glossary.ts";
export { describeHistory, type HistoryFacts, historyWord } from "./history.ts";
export { describeLoadResult, describeUnsteady, type LoadResultFacts } from "./load-result.ts";
export { claimedFirst, describePartial, describeProfile, describeProfiles } from "./profiles.ts";
export { describeResponse } from "./response.ts";
export { describeUndecided, groupUndecided, type UndecidedGroup } from "./undecided.ts";
