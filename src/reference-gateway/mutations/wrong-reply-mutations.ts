import { type Mutation, mutation } from "../change.ts";
import { put } from "../edits/replies/json-edits.ts";
import { changeData } from "../edits/replies/stream-edits.ts";
import { nonStreamingReply } from "../edits/reply-kinds.ts";
import { both, onChat, onMessages, type When } from "../edits/when.ts";
import { eachEvent, onReply } from "../edits/wrap.ts";

const STORED = "Hello! How can I help you today?";

const plain: When = (call) => nonStreamingReply(call) && (call.request?.tools.length ?? 0) === 0;

const ONE_FOR_ALL = ["BASE-3", "TEXT-INTACT", "STREAM-4", "UPSTREAM-REPLY"];

/** Well-formed replies that are not this model's reply to this request. */
export const WRONG_REPLY_MUTATIONS: readonly Mutation[] = [
  mutation(
    "chat.one-reply-for-all",
    ONE_FOR_ALL,
    "Every non-streaming chat request gets the same stored reply.",
    onReply(both(onChat, plain), put("choices.0.message.content", STORED)),
  ),
  mutation(
    "messages.one-reply-for-all",
    ONE_FOR_ALL,
    "Every non-streaming messages request gets the same stored reply.",
    onReply(both(onMessages, plain), put("content", [{ type: "text", text: STORED }])),
  ),
  mutation(
    "compat.reply-names-another-model",
    ["COMPAT-REPLY-MODEL"],
    "Non-streaming replies name another listed model, whatever the request.",
    onReply(nonStreamingReply, put("model", "shout-fast")),
  ),
  mutation(
    "compat.reply-names-no-known-model",
    ["COMPAT-REPLY-MODEL"],
    "Non-streaming replies all name a model that is not in the list.",
    onReply(nonStreamingReply, put("model", "default")),
  ),
  mutation(
    "compat.stream-names-another-model",
    ["COMPAT-REPLY-MODEL"],
    "The chunks of chat streams name another listed model.",
    eachEvent(
      onChat,
      ["open", "text", "toolStart", "toolInput", "finish", "usage"],
      changeData(put("model", "shout-fast")),
    ),
  ),
];
