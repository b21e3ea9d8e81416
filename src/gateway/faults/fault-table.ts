import { AUTH_FAULTS } from "./auth-faults.ts";
import { BAD_BODY_FAULTS } from "./bad-body-faults.ts";
import { BALANCE_FAULTS } from "./balance-faults.ts";
import { BASE_FAULTS } from "./base-faults.ts";
import { BROKEN_STREAM_FAULTS } from "./broken-stream-faults.ts";
import { BUSY_FAULTS } from "./busy-faults.ts";
import { CHARGE_FAULTS } from "./charge-faults.ts";
import { CHAT_FAULTS } from "./chat-faults.ts";
import { CHAT_REQUEST_FAULTS } from "./chat-request-faults.ts";
import { CODING_FAULTS } from "./coding-faults.ts";
import { COMPAT_CHAT_FAULTS } from "./compat-chat-faults.ts";
import { COMPAT_FRAMING_FAULTS } from "./compat-framing-faults.ts";
import { COMPAT_MESSAGES_FAULTS } from "./compat-messages-faults.ts";
import { CREDENTIAL_FAULTS } from "./credential-faults.ts";
import { DENIAL_BODY_FAULTS } from "./denial-body-faults.ts";
import { DENIAL_HEADER_FAULTS } from "./denial-header-faults.ts";
import { DENIAL_STATUS_FAULTS } from "./denial-status-faults.ts";
import { DENIAL_STREAM_FAULTS } from "./denial-stream-faults.ts";
import type { Fault } from "./fault.ts";
import { JSON_FAULTS } from "./json-faults.ts";
import { LOAD_FAULTS } from "./load-faults.ts";
import { MESSAGES_FAULTS } from "./messages-faults.ts";
import { MESSAGES_REQUEST_FAULTS } from "./messages-request-faults.ts";
import { MODELS_FAULTS } from "./models-faults.ts";
import { PROTOCOL_FAULTS } from "./protocol-faults.ts";
import { RATE_FAULTS } from "./rate-faults.ts";
import { RATE_HEADER_FAULTS } from "./rate-header-faults.ts";
import { RETRY_AFTER_FAULTS } from "./retry-after-faults.ts";
import { SECURITY_FAULTS } from "./security-faults.ts";
import { SLOT_FAULTS } from "./slot-faults.ts";
import { SLOT_SCOPE_FAULTS } from "./slot-scope-faults.ts";
import { SPENDING_FAULTS } from "./spending-faults.ts";
import { STREAM_FAULTS } from "./stream-faults.ts";
import { TEXT_FAULTS } from "./text-faults.ts";
import { TOOL_FAULTS } from "./tool-faults.ts";
import { UPSTREAM_FAULTS } from "./upstream-faults.ts";

/** Every defect that can be switched on. */
export const FAULTS: readonly Fault[] = [
  ...BASE_FAULTS,
  ...AUTH_FAULTS,
  ...CREDENTIAL_FAULTS,
  ...SECURITY_FAULTS,
  ...MODELS_FAULTS,
  ...CHAT_FAULTS,
  ...CHAT_REQUEST_FAULTS,
  ...MESSAGES_FAULTS,
  ...MESSAGES_REQUEST_FAULTS,
  ...BAD_BODY_FAULTS,
  ...STREAM_FAULTS,
  ...TEXT_FAULTS,
  ...DENIAL_STATUS_FAULTS,
  ...DENIAL_HEADER_FAULTS,
  ...DENIAL_BODY_FAULTS,
  ...DENIAL_STREAM_FAULTS,
  ...UPSTREAM_FAULTS,
  ...BROKEN_STREAM_FAULTS,
  ...RATE_FAULTS,
  ...SLOT_FAULTS,
  ...SLOT_SCOPE_FAULTS,
  ...RETRY_AFTER_FAULTS,
  ...RATE_HEADER_FAULTS,
  ...SPENDING_FAULTS,
  ...BALANCE_FAULTS,
  ...CHARGE_FAULTS,
  ...PROTOCOL_FAULTS,
  ...CODING_FAULTS,
  ...JSON_FAULTS,
  ...COMPAT_CHAT_FAULTS,
  ...COMPAT_FRAMING_FAULTS,
  ...COMPAT_MESSAGES_FAULTS,
  ...TOOL_FAULTS,
  ...LOAD_FAULTS,
  ...BUSY_FAULTS,
];
