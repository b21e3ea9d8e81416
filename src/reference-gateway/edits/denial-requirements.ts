import type { Reason } from "../pipeline/refusal.ts";

/** The requirements that define how each denial looks: status and reason header together. */
export const REQUIREMENTS_OF_DENIAL = {
  invalid_api_key: ["AUTH-2", "AUTH-3", "ERR-401-INVALID", "MODELS-5"],
  key_revoked: ["AUTH-4", "ERR-401-REVOKED"],
  insufficient_credits: ["ERR-402-CREDITS", "SPEND-2"],
  quota_exceeded: ["ERR-402-QUOTA", "SPEND-3"],
  model_not_found: ["ERR-404-MODEL"],
  rate_limit_exceeded: ["ERR-429-RATE", "LIMIT-RATE-1"],
  concurrency_limit_exceeded: ["ERR-429-CONC", "LIMIT-CONC-1"],
  budget_exhausted: ["ERR-429-BUDGET", "SPEND-8"],
} as const satisfies Partial<Record<Reason, readonly string[]>>;

export type Denial = keyof typeof REQUIREMENTS_OF_DENIAL;

/** Requirements of every denial. */
export const REQUIREMENTS_OF_ALL_DENIALS: readonly string[] = Object.values(REQUIREMENTS_OF_DENIAL).flat();

/** Requirements of every denial of an inference request: the model list has a separate one. */
export const REQUIREMENTS_OF_INFERENCE_DENIALS: readonly string[] = REQUIREMENTS_OF_ALL_DENIALS.filter(
  (requirement) => requirement !== "MODELS-5",
);
