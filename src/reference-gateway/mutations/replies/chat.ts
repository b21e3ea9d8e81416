import { member } from "../../../core/index.ts";
import { grid, type Mutation, mutation } from "../../change.ts";
import { drop, put, rename } from "../../edits/replies/json-edits.ts";
import { both, longBody, nonStreaming, onChat, saysNonStreaming, systemTurn, type When } from "../../edits/when.ts";
import { onReply, onServed, type ReplyEdit } from "../../edits/wrap.ts";

const chatNonStreaming = both(onChat, nonStreaming);
const message = "choices.0.message";

const usage = (change: (count: unknown) => unknown) =>
  put("usage", (counts: unknown) =>
    Object.fromEntries(Object.entries(counts as object).map(([name, count]) => [name, change(count)])),
  );

/** Non-streaming replies of the chat dialect. */
export const CHAT_MUTATIONS: readonly Mutation[] = [
  ...grid(["CHAT-2"], (edit: ReplyEdit) => onReply(onChat, edit), {
    "chat.content-null": {
      breaks: ["CHAT-2", "BASE-3", "BASE-2"],
      summary: "The content of non-streaming replies is null although tokens were generated.",
      with: put(`${message}.content`, null),
      detectedBy: { "chat.minimal[plain]": "CHAT-2" },
    },
    "chat.content-empty": {
      breaks: ["CHAT-2", "BASE-3", "STREAM-4"],
      summary: "The content of non-streaming replies is an empty string.",
      with: put(`${message}.content`, ""),
      detectedBy: { "chat.minimal[plain]": "CHAT-2" },
    },
    "chat.content-parts": {
      summary: "The content of non-streaming replies is an array of parts.",
      with: put(`${message}.content`, (text: unknown) => [{ type: "text", text }]),
      mayBreak: ["COMPAT-TOOL-RESULT"],
      detectedBy: { "chat.minimal[plain]": "CHAT-2" },
    },
    "chat.choices-object": {
      summary: "choices is an object keyed by index.",
      with: put("choices", (choices: unknown) => ({ ...(choices as unknown[]) })),
      detectedBy: { "chat.minimal[plain]": "CHAT-2" },
    },
    "chat.choices-empty": {
      breaks: ["CHAT-2", "BASE-3"],
      summary: "choices is an empty array.",
      with: put("choices", []),
    },
    "chat.choices-empty-when-cut": {
      summary: "choices is an empty array when max_tokens ended the reply.",
      with: put("choices", (choices: unknown) =>
        member((choices as unknown[])[0], "finish_reason") === "length" ? [] : choices,
      ),
    },
    "chat.text-next-to-message": {
      breaks: ["CHAT-2", "BASE-3"],
      summary: "The text is in choices[0].text, as in legacy completions.",
      with: put("choices.0", (choice: unknown) => ({
        index: 0,
        text: member(member(choice, "message"), "content"),
        finish_reason: "stop",
      })),
    },
    "chat.delta-in-non-streaming-reply": {
      breaks: ["CHAT-2", "BASE-3"],
      summary: "Non-streaming replies have a delta instead of a message.",
      with: rename(message, "delta"),
    },
    "chat.usage-missing": { breaks: ["CHAT-3"], summary: "Non-streaming replies have no usage.", with: drop("usage") },
    "chat.usage-empty": { breaks: ["CHAT-3"], summary: "usage is an empty object.", with: put("usage", {}) },
    "chat.usage-text": {
      breaks: ["CHAT-3", "COUNTS-ADD-UP", "COMPAT-USAGE"],
      summary: "The token counts are strings.",
      with: usage(String),
    },
    "chat.usage-negative": {
      breaks: ["CHAT-3", "COUNTS-ADD-UP", "COMPAT-USAGE"],
      summary: "The token counts are -1, for unknown.",
      with: usage(() => -1),
    },
    "chat.usage-does-not-add-up": {
      breaks: ["COUNTS-ADD-UP"],
      summary: "The total is less than the sum of its parts.",
      with: put("usage.total_tokens", (total: unknown) => Math.max(0, Number(total) - 2)),
      mayBreak: ["COMPAT-USAGE"],
    },
    "chat.usage-fractions": {
      breaks: ["COUNTS-ADD-UP", "COMPAT-USAGE"],
      summary: "Token counts are estimates with fractions.",
      with: usage((count) => Number(count) + 0.25),
    },
    "chat.long-reply-cut": {
      breaks: ["STREAM-4", "TEXT-INTACT"],
      summary: "The content of non-streaming replies is truncated to a thousand characters.",
      with: put(`${message}.content`, (text: unknown) => String(text ?? "").slice(0, 1_000)),
    },
    "chat.reply-in-wrapper": {
      breaks: ["CHAT-1", "CHAT-2", "CHAT-3", "BASE-3"],
      summary: "Non-streaming replies are wrapped in a field named data.",
      with: (value) => ({ success: true, data: value }),
    },
  }),
  mutation("chat.content-null-with-stream-false", {
    breaks: ["CHAT-2", "BASE-3", "CHAT-7"],
    summary: "The content is null when stream is false, and correct when stream is absent.",
    apply: onReply(both(onChat, saysNonStreaming), put(`${message}.content`, null)),
    detectedBy: { "chat.non-streaming[false]": "CHAT-2" },
  }),
  mutation("chat.delta-after-system-turn", {
    breaks: ["CHAT-2", "COMPAT-CHAT-TURNS"],
    summary: "Replies to conversations with a system turn have a delta instead of a message.",
    apply: onReply(both(onChat, systemTurn), rename(message, "delta")),
  }),
  ...grid(["CHAT-3"], (when: When) => onReply(when, put("usage", null)), {
    "chat.usage-null-with-stream-false": {
      summary: "usage is null when stream is explicitly false.",
      with: both(onChat, saysNonStreaming),
    },
    "chat.usage-missing-after-long-prompts": {
      breaks: ["CHAT-3", "COMPAT-USAGE"],
      summary: "A body of more than four kilobytes gets a reply without usage.",
      with: both(onChat, longBody),
    },
  }),
  mutation("chat.error-in-success", {
    breaks: ["ERR-200-1", "CHAT-2", "CHAT-4"],
    summary: "Long requests get 200 with an error object instead of the reply.",
    apply: onReply(both(chatNonStreaming, longBody), () => ({
      error: { message: "context length exceeded", type: "invalid_request_error", code: 400 },
    })),
  }),
  mutation("chat.202", {
    breaks: ["CHAT-1", "CHAT-2", "BASE-2", "BASE-3"],
    summary: "Non-streaming requests get 202 with a URL to poll instead of a reply.",
    apply: onServed(chatNonStreaming, (response, call) => ({
      ...response,
      status: 202,
      body: { kind: "json", value: { id: call.id, status: "queued", poll: `/v1/jobs/${call.id}` } },
    })),
  }),
  mutation("chat.empty-success", {
    breaks: ["CHAT-1", "CHAT-2", "CHAT-3", "BASE-2", "BASE-3", "ERR-200-1"],
    summary: "Non-streaming replies are 200 with an empty body.",
    apply: onServed(chatNonStreaming, (response) => ({
      ...response,
      body: { kind: "text", text: "", contentType: "application/json" },
    })),
  }),
];
