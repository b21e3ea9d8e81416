import type { Variant } from "../change.ts";
import { ACCESS_VARIANTS } from "./access-variants.ts";
import { CAPABILITY_VARIANTS } from "./capability-variants.ts";
import { CHAT_VARIANTS } from "./chat-variants.ts";
import { CHUNK_VARIANTS } from "./chunk-variants.ts";
import { ERROR_VARIANTS } from "./error-variants.ts";
import { HTTP_VARIANTS } from "./http-variants.ts";
import { JSON_VARIANTS } from "./json-variants.ts";
import { LATENCY_VARIANTS } from "./latency-variants.ts";
import { LIMIT_VARIANTS } from "./limit-variants.ts";
import { MESSAGES_VARIANTS } from "./messages-variants.ts";
import { MODELS_VARIANTS } from "./models-variants.ts";
import { PROVIDER_VARIANTS } from "./provider-variants.ts";
import { REPLY_CACHE_VARIANTS } from "./reply-cache-variants.ts";
import { STREAM_VARIANTS } from "./stream-variants.ts";
import { TOKEN_VARIANTS } from "./token-variants.ts";
import { TRANSFER_VARIANTS } from "./transfer-variants.ts";
import { WORDING_VARIANTS } from "./wording-variants.ts";

/** Every variant. */
export const VARIANTS: readonly Variant[] = [
  ...HTTP_VARIANTS,
  ...TRANSFER_VARIANTS,
  ...JSON_VARIANTS,
  ...STREAM_VARIANTS,
  ...CHUNK_VARIANTS,
  ...CHAT_VARIANTS,
  ...MESSAGES_VARIANTS,
  ...REPLY_CACHE_VARIANTS,
  ...CAPABILITY_VARIANTS,
  ...ERROR_VARIANTS,
  ...ACCESS_VARIANTS,
  ...MODELS_VARIANTS,
  ...LATENCY_VARIANTS,
  ...LIMIT_VARIANTS,
  ...TOKEN_VARIANTS,
  ...PROVIDER_VARIANTS,
  ...WORDING_VARIANTS,
];
