// One request of each kind with the SDKs for Node, as their documentation shows them; see ../record-sdk-headers.ts.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const { ORIGIN, KEY } = process.env;
const openai = new OpenAI({ apiKey: KEY, baseURL: `${ORIGIN}/openai-node/v1`, maxRetries: 0 });
const anthropic = new Anthropic({ authToken: KEY, baseURL: `${ORIGIN}/anthropic-node`, maxRetries: 0 });
const messages = [{ role: "user", content: "Hello" }];

// Every request is refused: only what was sent matters.
await Promise.allSettled([
  openai.chat.completions.create({ model: "m", messages }),
  openai.chat.completions.create({ model: "m", messages, stream: true }),
  openai.models.list(),
  anthropic.messages.create({ model: "m", max_tokens: 16, messages }),
  anthropic.messages.stream({ model: "m", max_tokens: 16, messages }).finalMessage(),
  anthropic.models.list(),
]);
