import type { Mutation } from "../change.ts";
import { AUTH_MUTATIONS } from "./auth-mutations.ts";
import { BAD_BODY_MUTATIONS } from "./bad-body-mutations.ts";
import { BALANCE_MUTATIONS } from "./balance-mutations.ts";
import { BASE_MUTATIONS } from "./base-mutations.ts";
import { BROKEN_STREAM_MUTATIONS } from "./broken-stream-mutations.ts";
import { BUSY_MUTATIONS } from "./busy-mutations.ts";
import { CAPABILITY_MUTATIONS } from "./capability-mutations.ts";
import { CHARGE_MUTATIONS } from "./charge-mutations.ts";
import { CHAT_MUTATIONS } from "./chat-mutations.ts";
import { CHAT_REQUEST_MUTATIONS } from "./chat-request-mutations.ts";
import { CLIENT_ERROR_MUTATIONS } from "./client-error-mutations.ts";
import { CLIENT_HEADER_MUTATIONS } from "./client-header-mutations.ts";
import { CODING_MUTATIONS } from "./coding-mutations.ts";
import { COMPAT_CHAT_MUTATIONS } from "./compat-chat-mutations.ts";
import { COMPAT_FRAMING_MUTATIONS } from "./compat-framing-mutations.ts";
import { COMPAT_MESSAGES_MUTATIONS } from "./compat-messages-mutations.ts";
import { CONCURRENCY_DENIAL_MUTATIONS } from "./concurrency-denial-mutations.ts";
import { CONCURRENCY_LEAK_MUTATIONS } from "./concurrency-leak-mutations.ts";
import { CONCURRENCY_MUTATIONS } from "./concurrency-mutations.ts";
import { CONCURRENCY_SCOPE_MUTATIONS } from "./concurrency-scope-mutations.ts";
import { CREDENTIAL_MUTATIONS } from "./credential-mutations.ts";
import { DENIAL_BODY_MUTATIONS } from "./denial-body-mutations.ts";
import { DENIAL_HEADER_MUTATIONS } from "./denial-header-mutations.ts";
import { DENIAL_STATUS_MUTATIONS } from "./denial-status-mutations.ts";
import { DENIAL_STREAM_MUTATIONS } from "./denial-stream-mutations.ts";
import { JSON_MUTATIONS } from "./json-mutations.ts";
import { LOAD_MUTATIONS } from "./load-mutations.ts";
import { MESSAGES_MUTATIONS } from "./messages-mutations.ts";
import { MESSAGES_REQUEST_MUTATIONS } from "./messages-request-mutations.ts";
import { MODELS_MUTATIONS } from "./models-mutations.ts";
import { PROTOCOL_MUTATIONS } from "./protocol-mutations.ts";
import { PROVIDER_FAILURE_MUTATIONS } from "./provider-failure-mutations.ts";
import { PROVIDER_REPLY_MUTATIONS } from "./provider-reply-mutations.ts";
import { PROVIDER_REQUEST_MUTATIONS } from "./provider-request-mutations.ts";
import { RATE_DENIAL_MUTATIONS } from "./rate-denial-mutations.ts";
import { RATE_HEADER_MUTATIONS } from "./rate-header-mutations.ts";
import { RATE_MUTATIONS } from "./rate-mutations.ts";
import { REPLY_CACHE_MUTATIONS } from "./reply-cache-mutations.ts";
import { RESEMBLING_MODEL_MUTATIONS } from "./resembling-model-mutations.ts";
import { RETRY_AFTER_MUTATIONS } from "./retry-after-mutations.ts";
import { SECURITY_MUTATIONS } from "./security-mutations.ts";
import { SPELLING_MUTATIONS } from "./spelling-mutations.ts";
import { SPENDING_MUTATIONS } from "./spending-mutations.ts";
import { STREAM_MUTATIONS } from "./stream-mutations.ts";
import { TEXT_MUTATIONS } from "./text-mutations.ts";
import { TOKEN_MUTATIONS } from "./token-mutations.ts";
import { TOOL_MUTATIONS } from "./tool-mutations.ts";
import { UNUSABLE_REPLY_MUTATIONS } from "./unusable-reply-mutations.ts";
import { UPSTREAM_MUTATIONS } from "./upstream-mutations.ts";
import { WRONG_REPLY_MUTATIONS } from "./wrong-reply-mutations.ts";

/** Every mutation. */
export const MUTATIONS: readonly Mutation[] = [
  ...BASE_MUTATIONS,
  ...AUTH_MUTATIONS,
  ...CREDENTIAL_MUTATIONS,
  ...SECURITY_MUTATIONS,
  ...MODELS_MUTATIONS,
  ...RESEMBLING_MODEL_MUTATIONS,
  ...CHAT_MUTATIONS,
  ...CHAT_REQUEST_MUTATIONS,
  ...MESSAGES_MUTATIONS,
  ...MESSAGES_REQUEST_MUTATIONS,
  ...BAD_BODY_MUTATIONS,
  ...CLIENT_ERROR_MUTATIONS,
  ...CLIENT_HEADER_MUTATIONS,
  ...WRONG_REPLY_MUTATIONS,
  ...REPLY_CACHE_MUTATIONS,
  ...STREAM_MUTATIONS,
  ...TEXT_MUTATIONS,
  ...DENIAL_STATUS_MUTATIONS,
  ...DENIAL_HEADER_MUTATIONS,
  ...DENIAL_BODY_MUTATIONS,
  ...DENIAL_STREAM_MUTATIONS,
  ...UPSTREAM_MUTATIONS,
  ...BROKEN_STREAM_MUTATIONS,
  ...RATE_MUTATIONS,
  ...RATE_DENIAL_MUTATIONS,
  ...CONCURRENCY_MUTATIONS,
  ...CONCURRENCY_LEAK_MUTATIONS,
  ...CONCURRENCY_DENIAL_MUTATIONS,
  ...CONCURRENCY_SCOPE_MUTATIONS,
  ...RETRY_AFTER_MUTATIONS,
  ...RATE_HEADER_MUTATIONS,
  ...TOKEN_MUTATIONS,
  ...SPENDING_MUTATIONS,
  ...BALANCE_MUTATIONS,
  ...CHARGE_MUTATIONS,
  ...SPELLING_MUTATIONS,
  ...PROTOCOL_MUTATIONS,
  ...CODING_MUTATIONS,
  ...JSON_MUTATIONS,
  ...COMPAT_CHAT_MUTATIONS,
  ...COMPAT_FRAMING_MUTATIONS,
  ...COMPAT_MESSAGES_MUTATIONS,
  ...TOOL_MUTATIONS,
  ...CAPABILITY_MUTATIONS,
  ...UNUSABLE_REPLY_MUTATIONS,
  ...LOAD_MUTATIONS,
  ...BUSY_MUTATIONS,
  ...PROVIDER_REQUEST_MUTATIONS,
  ...PROVIDER_REPLY_MUTATIONS,
  ...PROVIDER_FAILURE_MUTATIONS,
];
