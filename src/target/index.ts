export { describeEmbedded, type EmbeddedGateway, type ReadyLine, startEmbedded } from "./embedded.ts";
export { hookSupplier } from "./hook-supplier.ts";
export { Key } from "./key.ts";
export { type Environment, loadTarget, parseTarget } from "./load-target.ts";
export { readYaml, type YamlDocument } from "./read-yaml.ts";
export { type TargetFile, TIERS, type Tier, targetJsonSchema } from "./schema.ts";
export type { Supplier } from "./supplier.ts";
export { type Account, allKeys, isLoopback, type KeyName, type Limits, type ModelRole, type Target } from "./target.ts";
