import type { Response } from "./response.ts";

/** Characters of a token, about: where the gateway does not count, the budget is kept by an estimate. */
const CHARACTERS = 4;

/** Output tokens that an answer came to: as the gateway counts them, or estimated from the text. */
export function outputTokensOf(response: Response): number {
  const { status = 0, requested } = response;
  if (requested.endpoint === "models" || status < 200 || status > 299) return 0;
  if (!response.streamed) {
    const { completion_tokens: chat, output_tokens: messages } = response.reply.usage ?? {};
    const counted = chat ?? messages;
    // A count beyond one token per byte is a defect of the count, not an expense.
    if (counted !== undefined && counted >= 0)
      return Math.min(Math.ceil(counted), response.exchange.response?.body.bytes ?? 0);
  }
  return Math.ceil((response.replyText?.length ?? 0) / CHARACTERS);
}
