import { member } from "../../core/index.ts";
import { type Mutation, mutation } from "../change.ts";
import { drop, put, rename } from "../edits/replies/json-edits.ts";
import { both, longBody, nonStreaming, onChat, saysNonStreaming, systemTurn } from "../edits/when.ts";
import { onReply, onServed } from "../edits/wrap.ts";

const chatNonStreaming = both(onChat, nonStreaming);
const message = "choices.0.message";

const usage = (change: (count: unknown) => unknown) =>
  put("usage", (counts: unknown) =>
    Object.fromEntries(Object.entries(counts as object).map(([name, count]) => [name, change(count)])),
  );

/** Non-streaming replies of the chat dialect. */
export const CHAT_MUTATIONS: readonly Mutation[] = [
  mutation(
    "chat.content-null",
    ["CHAT-2", "BASE-3", "BASE-2"],
    "The content of non-streaming replies is null although tokens were generated.",
    onReply(onChat, put(`${message}.content`, null)),
  ),
  mutation(
    "chat.content-empty",
    ["CHAT-2", "BASE-3", "STREAM-4"],
    "The content of non-streaming replies is an empty string.",
    onReply(onChat, put(`${message}.content`, "")),
  ),
  mutation(
    "chat.content-parts",
    ["CHAT-2"],
    "The content of non-streaming replies is an array of parts.",
    onReply(
      onChat,
      put(`${message}.content`, (text: unknown) => [{ type: "text", text }]),
    ),
  ),
  mutation(
    "chat.content-null-with-stream-false",
    ["CHAT-2", "BASE-3", "CHAT-7"],
    "The content is null when stream is false, and correct when stream is absent.",
    onReply(both(onChat, saysNonStreaming), put(`${message}.content`, null)),
  ),
  mutation(
    "chat.choices-object",
    ["CHAT-2"],
    "choices is an object keyed by index.",
    onReply(
      onChat,
      put("choices", (choices: unknown) => ({ ...(choices as unknown[]) })),
    ),
  ),
  mutation(
    "chat.choices-empty",
    ["CHAT-2", "BASE-3"],
    "choices is an empty array.",
    onReply(onChat, put("choices", [])),
  ),
  mutation(
    "chat.choices-empty-when-cut",
    ["CHAT-2"],
    "choices is an empty array when max_tokens ended the reply.",
    onReply(
      onChat,
      put("choices", (choices: unknown) =>
        member((choices as unknown[])[0], "finish_reason") === "length" ? [] : choices,
      ),
    ),
  ),
  mutation(
    "chat.text-beside-message",
    ["CHAT-2", "BASE-3"],
    "The text is in choices[0].text, as in legacy completions.",
    onReply(
      onChat,
      put("choices.0", (choice: unknown) => ({
        index: 0,
        text: member(member(choice, "message"), "content"),
        finish_reason: "stop",
      })),
    ),
  ),
  mutation(
    "chat.delta-in-non-streaming-reply",
    ["CHAT-2", "BASE-3"],
    "Non-streaming replies have a delta instead of a message.",
    onReply(onChat, rename(message, "delta")),
  ),
  mutation(
    "chat.delta-after-system-turn",
    ["CHAT-2", "COMPAT-CHAT-TURNS"],
    "Replies to conversations with a system turn have a delta instead of a message.",
    onReply(both(onChat, systemTurn), rename(message, "delta")),
  ),
  mutation("chat.usage-missing", ["CHAT-3"], "Non-streaming replies have no usage.", onReply(onChat, drop("usage"))),
  mutation("chat.usage-empty", ["CHAT-3"], "usage is an empty object.", onReply(onChat, put("usage", {}))),
  mutation(
    "chat.usage-null-with-stream-false",
    ["CHAT-3"],
    "usage is null when stream is explicitly false.",
    onReply(both(onChat, saysNonStreaming), put("usage", null)),
  ),
  mutation(
    "chat.usage-missing-after-long-prompts",
    ["CHAT-3", "COMPAT-USAGE"],
    "A body of more than four kilobytes gets a reply without usage.",
    onReply(both(onChat, longBody), put("usage", null)),
  ),
  mutation(
    "chat.usage-text",
    ["CHAT-3", "COUNTS-ADD-UP", "COMPAT-USAGE"],
    "The token counts are strings.",
    onReply(onChat, usage(String)),
  ),
  mutation(
    "chat.usage-negative",
    ["CHAT-3", "COUNTS-ADD-UP", "COMPAT-USAGE"],
    "The token counts are -1, for unknown.",
    onReply(
      onChat,
      usage(() => -1),
    ),
  ),
  mutation(
    "chat.usage-does-not-add-up",
    ["COUNTS-ADD-UP"],
    "The total is less than the sum of its parts.",
    onReply(
      onChat,
      put("usage.total_tokens", (total: unknown) => Math.max(0, Number(total) - 2)),
    ),
  ),
  mutation(
    "chat.usage-fractions",
    ["COUNTS-ADD-UP", "COMPAT-USAGE"],
    "Token counts are estimates with fractions.",
    onReply(
      onChat,
      usage((count) => Number(count) + 0.25),
    ),
  ),
  mutation(
    "chat.long-reply-cut",
    ["STREAM-4", "TEXT-INTACT"],
    "The content of non-streaming replies is truncated to a thousand characters.",
    onReply(
      onChat,
      put(`${message}.content`, (text: unknown) => String(text ?? "").slice(0, 1_000)),
    ),
  ),
  mutation(
    "chat.error-in-success",
    ["ERR-200-1", "CHAT-2", "CHAT-4"],
    "Long requests get 200 with an error object instead of the reply.",
    onReply(both(chatNonStreaming, longBody), () => ({
      error: { message: "context length exceeded", type: "invalid_request_error", code: 400 },
    })),
  ),
  mutation(
    "chat.202",
    ["CHAT-1", "CHAT-2", "BASE-2", "BASE-3"],
    "Non-streaming requests get 202 with a URL to poll instead of a reply.",
    onServed(chatNonStreaming, (response, call) => ({
      ...response,
      status: 202,
      body: { kind: "json", value: { id: call.id, status: "queued", poll: `/v1/jobs/${call.id}` } },
    })),
  ),
  mutation(
    "chat.reply-in-wrapper",
    ["CHAT-1", "CHAT-2", "CHAT-3", "BASE-3"],
    "Non-streaming replies are wrapped in a field named data.",
    onReply(onChat, (value) => ({ success: true, data: value })),
  ),
  mutation(
    "chat.empty-success",
    ["CHAT-1", "CHAT-2", "CHAT-3", "BASE-2", "BASE-3", "ERR-200-1"],
    "Non-streaming replies are 200 with an empty body.",
    onServed(chatNonStreaming, (response) => ({
      ...response,
      body: { kind: "text", text: "", contentType: "application/json" },
    })),
  ),
];
