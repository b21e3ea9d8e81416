import type { Check } from "../../src/checks/index.ts";
import { AFTER_IDLE } from "./after-idle.ts";
import { BUSY_STREAMS } from "./busy-streams.ts";
import { CONNECTIONS } from "./connections.ts";
import { IDLE_CONNECTIONS } from "./idle-connections.ts";
import { INVARIANTS } from "./invariants.ts";
import { KEEPS_RESPONDING } from "./keeps-responding.ts";
import { KEEPS_SERVING } from "./keeps-serving.ts";
import { LATENCY } from "./latency.ts";
import { REPLY_CACHE } from "./reply-cache.ts";
import { BODIES } from "./requests/bodies.ts";
import { COMPRESSION } from "./requests/compression.ts";
import { CREDENTIALS } from "./requests/credentials.ts";
import { FORMS } from "./requests/forms.ts";
import { HTTP } from "./requests/http.ts";
import { TEXT } from "./requests/texts.ts";
import { SERVER_ERRORS } from "./server-errors.ts";
import { STALLS } from "./stalls.ts";

/** The protocol layer: what the underlying standards and common sense require. */
export const ROBUSTNESS: readonly Check[] = [
  ...BODIES,
  ...FORMS,
  ...HTTP,
  ...CONNECTIONS,
  ...COMPRESSION,
  ...CREDENTIALS,
  ...TEXT,
  ...REPLY_CACHE,
  ...LATENCY,
  ...STALLS,
  ...BUSY_STREAMS,
  ...INVARIANTS,
  ...SERVER_ERRORS,
  ...KEEPS_RESPONDING,
  ...KEEPS_SERVING,
  ...IDLE_CONNECTIONS,
  ...AFTER_IDLE,
];
