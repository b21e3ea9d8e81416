export { describeEmbedded, type ReadyLine, startEmbedded } from "./embedded.ts";
export { hookSupplier } from "./hook-supplier.ts";
export { Key } from "./key.ts";
export { loadTarget, parseTarget } from "./load-target.ts";
export { readYaml } from "./read-yaml.ts";
export { type TargetFile, targetJsonSchema } from "./schema.ts";
export type { State } from "./states.ts";
export type { Supplier } from "./supplier.ts";
export {
  type Account,
  allKeys,
  hasBothLimits,
  isLoopback,
  type KeyName,
  type Limits,
  type ModelRole,
  type Target,
} from "./target.ts";
