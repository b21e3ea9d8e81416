import type { Response } from "../../../src/checks/index.ts";
import { isObject, member } from "../../../src/core/index.ts";
import { parseJson } from "../../../src/dialects/index.ts";

/** The last turn of a valid request, if it is short enough to be repeated within `tokens` output tokens. */
export function shortPrompt(
  { requested, exchange }: Response,
  tokens = 256,
): { readonly model: string; readonly prompt: string } | undefined {
  if (requested.endpoint === "models" || requested.intent !== "valid") return undefined;
  const body = parseJson(exchange.request.body ?? "");
  const messages = member(body, "messages");
  const content = Array.isArray(messages) ? member(messages.at(-1), "content") : undefined;
  const limit = member(body, "max_tokens");
  const hasRoom = typeof limit !== "number" || limit >= tokens;
  const model = String(member(body, "model"));
  return typeof content === "string" && content.length < 200 && hasRoom ? { model, prompt: content } : undefined;
}

const PLAIN_FIELDS: readonly string[] = ["model", "messages", "stream", "max_tokens"];

/** Whether a request is a single user turn without options. Only such requests differ in nothing but their unique text. */
export function isPlain({ requested, exchange }: Response): boolean {
  if (requested.nonce === undefined) return false;
  const body = parseJson(exchange.request.body ?? "");
  const messages = member(body, "messages");
  if (!isObject(body) || !Array.isArray(messages) || messages.length !== 1) return false;
  return Object.keys(body).every((name) => PLAIN_FIELDS.includes(name));
}
