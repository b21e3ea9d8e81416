import { isObject } from "../../../core/index.ts";
import { isRelayed } from "../../providers/model-table.ts";
import type { Call } from "../behaviour.ts";
import { type Refusal, refusal } from "../refusal.ts";
import type { InferenceRequest } from "./inference-request.ts";
import { InvalidRequest } from "./invalid-request.ts";
import { readChatRequest } from "./read-chat-request.ts";
import { readMessagesRequest } from "./read-messages-request.ts";

/** Reads and validates the body of an inference request. */
export function readRequest(call: Call): InferenceRequest | Refusal {
  if (call.bodyError !== undefined) return call.bodyError;
  const body = call.parsed;
  if (!isObject(body)) return refusal("invalid_request", { message: "The request body must be a JSON object." });
  // A real provider validates its own input.
  const model = call.services.models.get(String(body["model"]));
  const reading = {
    takesAnyPart: model !== undefined && isRelayed(model),
    takesImages: model?.takesImages === true,
  };
  try {
    return call.endpoint === "messages" ? readMessagesRequest(body, reading) : readChatRequest(body, reading);
  } catch (thrown) {
    if (!(thrown instanceof InvalidRequest)) throw thrown;
    return refusal("invalid_request", { message: thrown.message, param: thrown.param });
  }
}
