import { isObject } from "../../core/index.ts";
import type { Ask } from "./ask.ts";
import type { Call } from "./behaviour.ts";
import { readChatAsk } from "./chat-ask.ts";
import { InvalidRequest } from "./invalid-request.ts";
import { readMessagesAsk } from "./messages-ask.ts";
import { type Refusal, refusal } from "./refusal.ts";

/** Reads and validates the body of an inference request. */
export function readAsk(call: Call): Ask | Refusal {
  if (call.bodyError !== undefined) return call.bodyError;
  const body = call.parsed;
  if (!isObject(body)) return refusal("invalid_request", { message: "The request body must be a JSON object." });
  try {
    return call.endpoint === "messages" ? readMessagesAsk(body) : readChatAsk(body);
  } catch (thrown) {
    if (!(thrown instanceof InvalidRequest)) throw thrown;
    return refusal("invalid_request", { message: thrown.message, param: thrown.param });
  }
}
