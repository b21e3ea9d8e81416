import { member } from "../../../core/index.ts";
import { grid, type Mutation, mutation } from "../../change.ts";
import { has } from "../../edits/replies/body-edits.ts";
import { drop, put, rename } from "../../edits/replies/json-edits.ts";
import { both, longBody, nonStreaming, onMessages, type When } from "../../edits/when.ts";
import { onReply, onServed, type ReplyEdit, wrap } from "../../edits/wrap.ts";
import { chatReply } from "../../encode/chat-reply.ts";

const withSystem: When = both(
  onMessages,
  has("system", () => true),
);

/** Non-streaming replies of the messages dialect. */
export const MESSAGES_MUTATIONS: readonly Mutation[] = [
  mutation("messages.chat-shape", {
    breaks: ["MSG-1", "MSG-2"],
    summary: "Replies are chat completions.",
    apply: wrap("reply", (next) => (plan, call) => (onMessages(call) ? chatReply(plan, call) : next(plan, call))),
    detectedBy: { "messages.minimal[plain]": "MSG-2" },
  }),
  ...grid(["MSG-2", "MSG-1"], (edit: ReplyEdit) => onReply(onMessages, edit), {
    "messages.content-text": {
      summary: "The content is a string.",
      with: put("content", (blocks: unknown) => member((blocks as unknown[])[0], "text")),
      detectedBy: { "messages.minimal[plain]": "MSG-2" },
    },
    "messages.content-empty": {
      breaks: ["MSG-2", "BASE-2"],
      summary: "The content has no blocks.",
      with: put("content", []),
      detectedBy: { "messages.minimal[plain]": "MSG-2" },
    },
    "messages.content-object": {
      summary: "The content is a single block instead of an array.",
      with: put("content", (blocks: unknown) => (blocks as unknown[])[0]),
      detectedBy: { "messages.minimal[plain]": "MSG-2" },
    },
    "messages.text-under-value": {
      breaks: ["MSG-2"],
      summary: "Text blocks have their text in a field named value.",
      with: put("content.0", rename("text", "value")),
      detectedBy: { "messages.minimal[plain]": "MSG-2" },
    },
    "messages.text-null": {
      breaks: ["MSG-2"],
      summary: "Text blocks have null text.",
      with: put("content.0.text", null),
    },
    "messages.usage-missing": { breaks: ["MSG-3"], summary: "Replies have no usage.", with: drop("usage") },
    "messages.usage-null": { breaks: ["MSG-3"], summary: "usage is null.", with: put("usage", null) },
    "messages.usage-text": {
      breaks: ["MSG-3", "COUNTS-ADD-UP", "COMPAT-USAGE"],
      summary: "The token counts are strings.",
      with: put("usage", (usage: unknown) => ({
        input_tokens: String(member(usage, "input_tokens")),
        output_tokens: String(member(usage, "output_tokens")),
      })),
    },
    "messages.output-count-unbounded": {
      breaks: ["MSG-6"],
      summary: "usage also counts the tokens that were truncated.",
      with: put("usage.output_tokens", (count: unknown) => Number(count) * 3 + 20),
      mayBreak: ["COMPAT-USAGE"],
    },
  }),
  mutation("messages.usage-empty-with-system", {
    breaks: ["MSG-3"],
    summary: "usage is empty when the request has a system prompt.",
    apply: onReply(withSystem, put("usage", {})),
  }),
  mutation("messages.usage-missing-after-long-prompts", {
    breaks: ["MSG-3", "COMPAT-USAGE"],
    summary: "A body of more than four kilobytes gets a reply without usage.",
    apply: onReply(both(onMessages, longBody), put("usage", null)),
  }),
  mutation("messages.error-in-success", {
    breaks: ["ERR-200-1", "MSG-1", "MSG-2", "MSG-7"],
    summary: "Requests with a system prompt get 200 with an error object.",
    apply: onReply(both(withSystem, nonStreaming), () => ({
      type: "error",
      error: { type: "invalid_request_error", message: "system: not supported" },
    })),
  }),
  mutation("messages.event-framed-reply", {
    breaks: ["MSG-1", "ERR-200-1"],
    summary: "Non-streaming replies have event-stream framing.",
    apply: onServed(both(onMessages, nonStreaming), (response) =>
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
  }),
];
