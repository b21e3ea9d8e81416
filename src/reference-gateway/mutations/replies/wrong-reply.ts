import { type Mutation, mutation } from "../../change.ts";
import { put } from "../../edits/replies/json-edits.ts";
import { changeData } from "../../edits/replies/stream-edits.ts";
import { nonStreamingReply } from "../../edits/reply-kinds.ts";
import { both, onChat, onMessages, type When } from "../../edits/when.ts";
import { eachEvent, onReply } from "../../edits/wrap.ts";

const STORED = "Hello! How can I help you today?";

const plain: When = (call) => nonStreamingReply(call) && (call.request?.tools.length ?? 0) === 0;

const ONE_FOR_ALL = ["BASE-3", "TEXT-INTACT", "STREAM-4", "UPSTREAM-REPLY"];

/** Well-formed replies that are not this model's reply to this request. */
export const WRONG_REPLY_MUTATIONS: readonly Mutation[] = [
  mutation("chat.one-reply-for-all", {
    breaks: ONE_FOR_ALL,
    summary: "Every non-streaming chat request gets the same stored reply.",
    apply: onReply(both(onChat, plain), put("choices.0.message.content", STORED)),
    mayBreak: ["COMPAT-CHAT-REPLY", "COMPAT-STRUCTURED", "COMPAT-TOOL-RESULT", "COMPAT-USAGE"],
  }),
  mutation("messages.one-reply-for-all", {
    breaks: ONE_FOR_ALL,
    summary: "Every non-streaming messages request gets the same stored reply.",
    apply: onReply(both(onMessages, plain), put("content", [{ type: "text", text: STORED }])),
    mayBreak: ["COMPAT-STRUCTURED", "COMPAT-TOOL-RESULT", "COMPAT-USAGE", "MSG-6"],
  }),
  mutation("compat.reply-names-another-model", {
    breaks: ["COMPAT-REPLY-MODEL"],
    summary: "Non-streaming replies name another listed model, whatever the request.",
    apply: onReply(nonStreamingReply, put("model", "shout-fast")),
  }),
  mutation("compat.reply-names-no-known-model", {
    breaks: ["COMPAT-REPLY-MODEL"],
    summary: "Non-streaming replies all name a model that is not in the list.",
    apply: onReply(nonStreamingReply, put("model", "default")),
  }),
  mutation("compat.stream-names-another-model", {
    breaks: ["COMPAT-REPLY-MODEL"],
    summary: "The chunks of chat streams name another listed model.",
    apply: eachEvent(
      onChat,
      ["open", "text", "toolStart", "toolInput", "finish", "usage"],
      changeData(put("model", "shout-fast")),
    ),
  }),
];
