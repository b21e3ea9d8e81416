export type { Colors, Outcome } from "./outcome.ts";
export { type Permit, permitFor, permitLine, refusalOf, searchPermit } from "./permit.ts";
export {
  checkPart,
  inTurn,
  loadParts,
  type PlanPart,
  planOfLoads,
  planText,
  requestsOnly,
  type SendingPlan,
  sumOf,
} from "./plan.ts";
export { programHere } from "./program-here.ts";
export {
  exitAfter,
  type Interruption,
  type OnProgress,
  type ProgressEvent,
  type RunControl,
  type Step,
  type SuiteProgress,
} from "./run-control.ts";
