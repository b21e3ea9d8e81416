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
