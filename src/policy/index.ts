export { againstBaseline } from "./against-baseline.ts";
export { applyPolicy, confirmed, type Policy, toConfirm } from "./apply-policy.ts";
export {
  acceptBaseline,
  type BaselineFile,
  baselineText,
  directionOf,
  figuresOf,
  machineOf,
  type NamedFigures,
  parseBaseline,
  workloadKey,
} from "./baseline.ts";
export { decide, nameWithAddress } from "./decide.ts";
export { decideByPolicy } from "./decide-by-policy.ts";
export { measuredValue, minSamplesOf, whyTooFew } from "./figure.ts";
export { crossedThreshold, judgeThreshold } from "./judge-threshold.ts";
export { isPerformance, isShare } from "./metrics.ts";
export { gatesOf, policyJsonSchema, policySchema } from "./policy-file.ts";
export { decideWithProfiles } from "./profiles/decide-with-profiles.ts";
export { judgeProfiles } from "./profiles/judge-profiles.ts";
export type { ProfileContext } from "./profiles/profile-scope.ts";
export { raiseLevels } from "./profiles/raise-levels.ts";
export { parseThreshold, subjectOf, type Threshold } from "./threshold.ts";
