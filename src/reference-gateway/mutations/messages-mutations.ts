import { member } from "../../core/index.ts";
import { type Mutation, mutation } from "../change.ts";
import { has } from "../edits/replies/body-edits.ts";
import { drop, put, rename } from "../edits/replies/json-edits.ts";
import { both, longBody, nonStreaming, onMessages, type When } from "../edits/when.ts";
import { onReply, onServed, wrap } from "../edits/wrap.ts";
import { chatReply } from "../encode/chat-reply.ts";

const withSystem: When = both(
  onMessages,
  has("system", () => true),
);

/** Non-streaming replies of the messages dialect. */
export const MESSAGES_MUTATIONS: readonly Mutation[] = [
  mutation(
    "messages.chat-shape",
    ["MSG-1", "MSG-2"],
    "Replies are chat completions.",
    wrap("reply", (next) => (plan, call) => (onMessages(call) ? chatReply(plan, call) : next(plan, call))),
  ),
  mutation(
    "messages.content-text",
    ["MSG-2", "MSG-1"],
    "The content is a string.",
    onReply(
      onMessages,
      put("content", (blocks: unknown) => member((blocks as unknown[])[0], "text")),
    ),
  ),
  mutation(
    "messages.content-empty",
    ["MSG-2", "BASE-2"],
    "The content has no blocks.",
    onReply(onMessages, put("content", [])),
  ),
  mutation(
    "messages.content-object",
    ["MSG-2", "MSG-1"],
    "The content is a single block instead of an array.",
    onReply(
      onMessages,
      put("content", (blocks: unknown) => (blocks as unknown[])[0]),
    ),
  ),
  mutation(
    "messages.text-under-value",
    ["MSG-2"],
    "Text blocks have their text in a field named value.",
    onReply(onMessages, put("content.0", rename("text", "value"))),
  ),
  mutation(
    "messages.text-null",
    ["MSG-2"],
    "Text blocks have null text.",
    onReply(onMessages, put("content.0.text", null)),
  ),
  mutation("messages.usage-missing", ["MSG-3"], "Replies have no usage.", onReply(onMessages, drop("usage"))),
  mutation("messages.usage-null", ["MSG-3"], "usage is null.", onReply(onMessages, put("usage", null))),
  mutation(
    "messages.usage-empty-with-system",
    ["MSG-3"],
    "usage is empty when the request has a system prompt.",
    onReply(withSystem, put("usage", {})),
  ),
  mutation(
    "messages.usage-missing-after-long-prompts",
    ["MSG-3", "COMPAT-USAGE"],
    "A body of more than four kilobytes gets a reply without usage.",
    onReply(both(onMessages, longBody), put("usage", null)),
  ),
  mutation(
    "messages.usage-text",
    ["MSG-3", "COUNTS-ADD-UP", "COMPAT-USAGE"],
    "The token counts are strings.",
    onReply(
      onMessages,
      put("usage", (usage: unknown) => ({
        input_tokens: String(member(usage, "input_tokens")),
        output_tokens: String(member(usage, "output_tokens")),
      })),
    ),
  ),
  mutation(
    "messages.output-count-unbounded",
    ["MSG-6"],
    "usage also counts the tokens that were truncated.",
    onReply(
      onMessages,
      put("usage.output_tokens", (count: unknown) => Number(count) * 3 + 20),
    ),
  ),
  mutation(
    "messages.error-in-success",
    ["ERR-200-1", "MSG-1", "MSG-2", "MSG-7"],
    "Requests with a system prompt get 200 with an error object.",
    onReply(both(withSystem, nonStreaming), () => ({
      type: "error",
      error: { type: "invalid_request_error", message: "system: not supported" },
    })),
  ),
  mutation(
    "messages.event-framed-reply",
    ["MSG-1", "ERR-200-1"],
    "Non-streaming replies have event-stream framing.",
    onServed(both(onMessages, nonStreaming), (response) =>
      response.body.kind !== "json"
        ? response
        : {
            ...response,
            body: {
              kind: "events",
              ending: "finish",
              events: [{ kind: "other", atMs: 0, tokens: 0, name: "message", data: response.body.value }],
            },
          },
    ),
  ),
];
