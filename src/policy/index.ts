export { againstBaseline } from "./against-baseline.ts";
export { applyPolicy, confirmed, type Policy, toConfirm } from "./apply-policy.ts";
export { acceptBaseline, type BaselineFile, baselineText, parseBaseline } from "./baseline.ts";
export { decide, nameWithAddress } from "./decide.ts";
export { decideByPolicy } from "./decide-by-policy.ts";
export { policyJsonSchema, policySchema } from "./policy-file.ts";
