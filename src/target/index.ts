export type { ScriptInput, UpstreamRequest } from "../upstream/index.ts";
export {
  addressAt,
  addressesOf,
  assertOneAddress,
  atAddress,
} from "./addresses.ts";
export {
  ACTION_KINDS,
  type Action,
  actionSchema,
  actionShape,
  describeAction,
  resolveAction,
} from "./file/action.ts";
export { messageProblem } from "./file/denial-message.ts";
export { STATES, type State } from "./file/fixture-names.ts";
export type { LedgerPrice, LedgerTarget } from "./file/ledger.ts";
export { loadTarget, parseTarget, withPlaceholders } from "./file/load-target.ts";
export { assertKind, readText, readYaml } from "./file/read-yaml.ts";
export { type TargetFile, targetJsonSchema } from "./file/schema.ts";
export { TIERS as TIER_LIMITS } from "./file/tiers.ts";
export type { TokenLimits } from "./file/token-limits.ts";
export { optional } from "./file/value-schemas.ts";
export { Key } from "./key.ts";
export type { LedgerRow } from "./ledger/ledger-rows.ts";
export { type LedgerReading, readLedger } from "./ledger/read-ledger.ts";
export { describeEmbedded, type ReadyLine, startEmbedded } from "./provision/embedded.ts";
export { hookProvisioner } from "./provision/hook-provisioner.ts";
export { type OwnProcess, startOwnProcess } from "./provision/own-process.ts";
export type { ManagedAccount, Provisioner, Upgradable } from "./provision/provisioner.ts";
export { type UpstreamControl, upstreamControl } from "./provision/upstream-control.ts";
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
