export type { ScriptInput, UpstreamRequest } from "../upstream/index.ts";
export { messageProblem } from "./denial-message.ts";
export { describeEmbedded, type ReadyLine, startEmbedded } from "./embedded.ts";
export { STATES, type State } from "./fixture-names.ts";
export { hookProvisioner } from "./hook-provisioner.ts";
export { Key } from "./key.ts";
export { loadTarget, parseTarget } from "./load-target.ts";
export { startOwnProcess } from "./own-process.ts";
export type { Provisioner, Upgradable } from "./provisioner.ts";
export { readText, readYaml } from "./read-yaml.ts";
export { type TargetFile, targetJsonSchema } from "./schema.ts";
export {
  type Account,
  allKeys,
  hasBothLimits,
  isLoopback,
  type KeyName,
  keysOf,
  type Limits,
  type ModelRole,
  type Target,
} from "./target.ts";
export { TIERS as TIER_LIMITS } from "./tiers.ts";
export type { TokenLimits } from "./token-limits.ts";
export { type UpstreamControl, upstreamControl } from "./upstream-control.ts";
export { optional } from "./value-schemas.ts";
