export type { Limits, Tier } from "./accounts/tiers.ts";
export type { Mutation, Variant } from "./change.ts";
export type { LimiterKind } from "./limits/limiter-kinds.ts";
export { MUTATIONS } from "./mutations/mutation-table.ts";
export type { GatewayOptions } from "./options.ts";
export type { ReadyLine } from "./ready-line.ts";
export type { Script, ScriptedAnswer, ScriptedRequest, Turn } from "./scripts/script.ts";
export { type Gateway, startGateway } from "./start-gateway.ts";
export { VARIANTS } from "./variants/variant-table.ts";
