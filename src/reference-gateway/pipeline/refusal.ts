/** Why a request is not served. The first eight are the denials that the interface names. */
export type Reason =
  | "invalid_api_key"
  | "key_revoked"
  | "insufficient_credits"
  | "quota_exceeded"
  | "model_not_found"
  | "rate_limit_exceeded"
  | "concurrency_limit_exceeded"
  | "budget_exhausted"
  | "invalid_request"
  | "request_too_large"
  | "unsupported_media_type"
  | "not_found"
  | "method_not_allowed"
  | "upstream_error"
  | "upstream_timeout"
  | "internal_error";

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

type Requirement = readonly [status: number, action: string, chatType: string, messagesType: string, message: string];

const REQUIREMENTS_OF = {
  invalid_api_key: [
    401,
    "check_credentials",
    "authentication_error",
    "authentication_error",
    "The API key is missing or not valid.",
  ],
  key_revoked: [401, "replace_key", "authentication_error", "authentication_error", "The API key has been revoked."],
  insufficient_credits: [402, "add_credits", "billing_error", "billing_error", "The prepaid balance is exhausted."],
  quota_exceeded: [402, "raise_cap", "billing_error", "billing_error", "The key has reached its daily spend cap."],
  model_not_found: [404, "list_models", "invalid_request_error", "not_found_error", "The model is not enabled."],
  rate_limit_exceeded: [
    429,
    "wait",
    "rate_limit_error",
    "rate_limit_error",
    "The account has sent more requests in a minute than its limit allows.",
  ],
  concurrency_limit_exceeded: [
    429,
    "reduce_parallelism",
    "rate_limit_error",
    "rate_limit_error",
    "The account has as many requests in flight as its limit allows.",
  ],
  budget_exhausted: [429, "raise_budget", "billing_error", "billing_error", "The key has used its lifetime budget."],
  invalid_request: [400, "fix_request", "invalid_request_error", "invalid_request_error", "The request is not valid."],
  request_too_large: [
    413,
    "send_less",
    "invalid_request_error",
    "request_too_large",
    "The request body is larger than the gateway accepts.",
  ],
  unsupported_media_type: [
    415,
    "send_json",
    "invalid_request_error",
    "invalid_request_error",
    "The request body must be uncompressed application/json.",
  ],
  not_found: [404, "check_path", "invalid_request_error", "not_found_error", "There is nothing at this path."],
  method_not_allowed: [
    405,
    "check_method",
    "invalid_request_error",
    "invalid_request_error",
    "This path does not know this method.",
  ],
  upstream_error: [502, "retry_later", "server_error", "api_error", "The model provider failed."],
  upstream_timeout: [
    504,
    "retry_later",
    "server_error",
    "timeout_error",
    "The model provider did not respond in time.",
  ],
  internal_error: [500, "retry_later", "server_error", "api_error", "The gateway failed."],
} as const satisfies Record<Reason, Requirement>;

/** Makes the refusal for a reason; `details` override the table. */
export function refusal(reason: Reason, details: Partial<Omit<Refusal, "reason">> = {}): Refusal {
  const [status, action, chat, messages, message] = REQUIREMENTS_OF[reason];
  return { reason, status, action, type: { chat, messages }, message, ...details };
}
