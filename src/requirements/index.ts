export {
  type AnyRequirement,
  type CustomRequirement,
  type CustomRequirementSpec,
  defineRequirement,
  isCustomRequirement,
} from "./custom-requirement.ts";
export {
  DENIALS,
  DENIED_KEYS,
  type Denial,
  type DeniedKey,
  denial,
  denialOfKey,
  limitOfReason,
  type Reason,
  temporaryLimitOf,
} from "./denials.ts";
export { EXCLUSIONS } from "./exclusions.ts";
export {
  OPTIONAL_PARTS,
  type OptionalPart,
  PROFILE_NAMES,
  PROFILES,
  type Profile,
  profileHash,
  profileNamed,
  UNPROFILED,
} from "./profiles.ts";
export type {} from "./requirement.ts";
export { REQUIREMENT_SET, requirementsAfter } from "./requirement-set.ts";
export {
  type CompatRequirement,
  isMust,
  isRequirementId,
  type Layer,
  type MustRequirement,
  REQUIREMENTS,
  type Requirement,
  type RequirementId,
  requirementOf,
  type ShouldRequirement,
} from "./requirements.ts";
export { linkedSource, SPECIFICATION_PAGE, specificationPlaces } from "./specification-places.ts";
