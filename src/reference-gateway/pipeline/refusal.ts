/** Defaults of a refusal; its details override them. */
interface RefusalRow {
  readonly status: number;
  readonly action: string;
  /** `error.type`, by dialect if they differ. */
  readonly type: string | Refusal["type"];
  readonly message: string;
  /** For the denials that the interface names: the requirements that define how it looks, status and reason header together. */
  readonly requirements?: readonly string[];
}

/** Every reason why a request is not served. A new one is a row here. */
const REFUSALS = {
  invalid_api_key: {
    status: 401,
    action: "check_credentials",
    type: "authentication_error",
    message: "The API key is missing or not valid.",
    requirements: ["AUTH-2", "AUTH-3", "ERR-401-INVALID", "MODELS-5"],
  },
  key_revoked: {
    status: 401,
    action: "replace_key",
    type: "authentication_error",
    message: "The API key has been revoked.",
    requirements: ["AUTH-4", "ERR-401-REVOKED"],
  },
  insufficient_credits: {
    status: 402,
    action: "add_credits",
    type: "billing_error",
    message: "The prepaid balance is exhausted.",
    requirements: ["ERR-402-CREDITS", "SPEND-2"],
  },
  quota_exceeded: {
    status: 402,
    action: "raise_cap",
    type: "billing_error",
    message: "The key has reached its daily spend cap.",
    requirements: ["ERR-402-QUOTA", "SPEND-3"],
  },
  model_not_found: {
    status: 404,
    action: "list_models",
    type: { chat: "invalid_request_error", messages: "not_found_error" },
    message: "The model is not enabled.",
    requirements: ["ERR-404-MODEL"],
  },
  rate_limit_exceeded: {
    status: 429,
    action: "wait",
    type: "rate_limit_error",
    message: "The account has sent more requests in a minute than its limit allows.",
    requirements: ["ERR-429-RATE", "LIMIT-RATE-1"],
  },
  concurrency_limit_exceeded: {
    status: 429,
    action: "reduce_parallelism",
    type: "rate_limit_error",
    message: "The account has as many requests in flight as its limit allows.",
    requirements: ["ERR-429-CONC", "LIMIT-CONC-1"],
  },
  budget_exhausted: {
    status: 429,
    action: "raise_budget",
    type: "billing_error",
    message: "The key has used its lifetime budget.",
    requirements: ["ERR-429-BUDGET", "SPEND-8"],
  },
  invalid_request: {
    status: 400,
    action: "fix_request",
    type: "invalid_request_error",
    message: "The request is not valid.",
  },
  request_too_large: {
    status: 413,
    action: "send_less",
    type: { chat: "invalid_request_error", messages: "request_too_large" },
    message: "The request body is larger than the gateway accepts.",
  },
  unsupported_media_type: {
    status: 415,
    action: "send_json",
    type: "invalid_request_error",
    message: "The request body must be uncompressed application/json.",
  },
  not_found: {
    status: 404,
    action: "check_path",
    type: { chat: "invalid_request_error", messages: "not_found_error" },
    message: "There is nothing at this path.",
  },
  method_not_allowed: {
    status: 405,
    action: "check_method",
    type: "invalid_request_error",
    message: "This path does not know this method.",
  },
  upstream_error: {
    status: 502,
    action: "retry_later",
    type: { chat: "server_error", messages: "api_error" },
    message: "The model provider failed.",
  },
  upstream_timeout: {
    status: 504,
    action: "retry_later",
    type: { chat: "server_error", messages: "timeout_error" },
    message: "The model provider did not respond in time.",
  },
  store_unavailable: {
    status: 503,
    action: "retry_later",
    type: { chat: "server_error", messages: "overloaded_error" },
    message: "The gateway cannot read its counters at the moment.",
  },
  internal_error: {
    status: 500,
    action: "retry_later",
    type: { chat: "server_error", messages: "api_error" },
    message: "The gateway failed.",
  },
} as const satisfies Record<string, RefusalRow>;

/** Why a request is not served. */
export type Reason = keyof typeof REFUSALS;

const ROWS: Readonly<Record<Reason, RefusalRow>> = REFUSALS;

/** The denials that the interface names. */
export const DENIALS = (Object.keys(ROWS) as Reason[]).filter((reason) => ROWS[reason].requirements !== undefined);

/** The requirements that define how a denial looks. */
export const requirementsOf = (denial: Reason): readonly string[] => ROWS[denial].requirements ?? [];

export const REQUIREMENTS_OF_ALL_DENIALS: readonly string[] = DENIALS.flatMap(requirementsOf);

/** Requirements of every denial of an inference request: the model list has a separate one. */
export const REQUIREMENTS_OF_INFERENCE_DENIALS: readonly string[] = REQUIREMENTS_OF_ALL_DENIALS.filter(
  (requirement) => requirement !== "MODELS-5",
);

export interface Refusal {
  readonly reason: Reason;
  readonly status: number;
  /** Short text about what the caller can do. */
  readonly action: string;
  /** `error.type` by dialect. */
  readonly type: { readonly chat: string; readonly messages: string };
  readonly message: string;
  /** The invalid request field. */
  readonly param?: string | undefined;
  /** Milliseconds until another attempt can succeed, according to the limiter. */
  readonly waitMs?: number | undefined;
  /** State of the rate limit, for `X-RateLimit-*`. */
  readonly rate?: { readonly limit: number; readonly remaining: number } | undefined;
  /** State of the token limit, for `X-RateLimit-*-Tokens`. */
  readonly tokens?: { readonly limit: number; readonly remaining: number } | undefined;
  /** Methods that the path supports, for `Allow`. */
  readonly allow?: string | undefined;
}

/** Makes the refusal for a reason; `details` override the table. */
export function refusal(reason: Reason, details: Partial<Omit<Refusal, "reason">> = {}): Refusal {
  const { status, action, type, message } = ROWS[reason];
  const types = typeof type === "string" ? { chat: type, messages: type } : type;
  return { reason, status, action, type: types, message, ...details };
}
