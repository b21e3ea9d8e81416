import type { Response } from "./response.ts";

/** Approximate characters per token: if the gateway does not count, the budget uses an estimate. */
const CHARACTERS = 4;

/** Output tokens of a response, as counted by the gateway or estimated from the text. */
export function outputTokensOf(response: Response): number {
  const { status = 0, requested } = response;
  if (requested.endpoint === "models" || status < 200 || status > 299) return 0;
  if (!response.streamed) {
    const { completion_tokens: chat, output_tokens: messages } = response.reply.usage ?? {};
    const counted = chat ?? messages;
    // A count of more than one token per byte is a defect of the count, not usage.
    if (counted !== undefined && counted >= 0)
      return Math.min(Math.ceil(counted), response.exchange.response?.body.bytes ?? 0);
  }
  return Math.ceil((response.replyText?.length ?? 0) / CHARACTERS);
}
