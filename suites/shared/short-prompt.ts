import type { Response } from "../../src/checks/index.ts";
import { isObject, member } from "../../src/core/index.ts";
import { parseJson } from "../../src/dialects/index.ts";

/** The last turn of a valid request, when it is so short that an output bound of `tokens` does not cut what repeats it. */
export function shortPrompt(
  { asked, exchange }: Response,
  tokens = 256,
): { readonly model: string; readonly prompt: string } | undefined {
  if (asked.endpoint === "models" || asked.intent !== "good") return undefined;
  const body = parseJson(exchange.request.body ?? "");
  const messages = member(body, "messages");
  const content = Array.isArray(messages) ? member(messages.at(-1), "content") : undefined;
  const limit = member(body, "max_tokens");
  const ample = typeof limit !== "number" || limit >= tokens;
  const model = String(member(body, "model"));
  return typeof content === "string" && content.length < 200 && ample ? { model, prompt: content } : undefined;
}

const PLAIN_FIELDS: readonly string[] = ["model", "messages", "stream", "max_tokens"];

/** The plainest request, of which only the unique text differs: what else is said can depend on what was asked. */
export function isPlain({ asked, exchange }: Response): boolean {
  if (asked.nonce === undefined) return false;
  const body = parseJson(exchange.request.body ?? "");
  const messages = member(body, "messages");
  if (!isObject(body) || !Array.isArray(messages) || messages.length !== 1) return false;
  return Object.keys(body).every((name) => PLAIN_FIELDS.includes(name));
}
