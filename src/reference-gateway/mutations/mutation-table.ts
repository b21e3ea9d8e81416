import type { Fault } from "../change.ts";
import { AUTH_FAULTS } from "./auth-mutations.ts";
import { BAD_BODY_FAULTS } from "./bad-body-mutations.ts";
import { BALANCE_FAULTS } from "./balance-mutations.ts";
import { BASE_FAULTS } from "./base-mutations.ts";
import { BROKEN_STREAM_FAULTS } from "./broken-stream-mutations.ts";
import { BUSY_FAULTS } from "./busy-mutations.ts";
import { CHARGE_FAULTS } from "./charge-mutations.ts";
import { CHAT_FAULTS } from "./chat-mutations.ts";
import { CHAT_REQUEST_FAULTS } from "./chat-request-mutations.ts";
import { CODING_FAULTS } from "./coding-mutations.ts";
import { COMPAT_CHAT_FAULTS } from "./compat-chat-mutations.ts";
import { COMPAT_FRAMING_FAULTS } from "./compat-framing-mutations.ts";
import { COMPAT_MESSAGES_FAULTS } from "./compat-messages-mutations.ts";
import { CREDENTIAL_FAULTS } from "./credential-mutations.ts";
import { DENIAL_BODY_FAULTS } from "./denial-body-mutations.ts";
import { DENIAL_HEADER_FAULTS } from "./denial-header-mutations.ts";
import { DENIAL_STATUS_FAULTS } from "./denial-status-mutations.ts";
import { DENIAL_STREAM_FAULTS } from "./denial-stream-mutations.ts";
import { JSON_FAULTS } from "./json-mutations.ts";
import { LOAD_FAULTS } from "./load-mutations.ts";
import { MESSAGES_FAULTS } from "./messages-mutations.ts";
import { MESSAGES_REQUEST_FAULTS } from "./messages-request-mutations.ts";
import { MODELS_FAULTS } from "./models-mutations.ts";
import { PROTOCOL_FAULTS } from "./protocol-mutations.ts";
import { RATE_HEADER_FAULTS } from "./rate-header-mutations.ts";
import { RATE_FAULTS } from "./rate-mutations.ts";
import { RETRY_AFTER_FAULTS } from "./retry-after-mutations.ts";
import { SECURITY_FAULTS } from "./security-mutations.ts";
import { SLOT_FAULTS } from "./slot-mutations.ts";
import { SLOT_SCOPE_FAULTS } from "./slot-scope-mutations.ts";
import { SPENDING_FAULTS } from "./spending-mutations.ts";
import { STREAM_FAULTS } from "./stream-mutations.ts";
import { TEXT_FAULTS } from "./text-mutations.ts";
import { TOOL_FAULTS } from "./tool-mutations.ts";
import { UPSTREAM_FAULTS } from "./upstream-mutations.ts";

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
