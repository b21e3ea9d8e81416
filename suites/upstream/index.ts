import type { Check } from "../../src/checks/index.ts";
import { CANCEL } from "./cancel.ts";
import { CONNECTIONS } from "./connections.ts";
import { CONVERSATION } from "./conversation.ts";
import { FAILURES_OF_PROVIDERS } from "./failures.ts";
import { KEYS } from "./keys.ts";
import { LONG_EVENTS } from "./long-events.ts";
import { REPLY } from "./reply.ts";
import { STREAMS } from "./streams.ts";
import { TOOLS } from "./tools/index.ts";

/** How a gateway behaves towards its providers, as seen from their side. */
export const UPSTREAM: readonly Check[] = [
  ...KEYS,
  ...CONVERSATION,
  ...REPLY,
  ...TOOLS,
  ...LONG_EVENTS,
  ...STREAMS,
  ...FAILURES_OF_PROVIDERS,
  ...CANCEL,
  ...CONNECTIONS,
];
